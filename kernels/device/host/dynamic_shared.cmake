# Run before a kernel library is linked: defines its dynamic shared memory.
#
# `extern __shared__ T name[]` becomes an undefined thread-local symbol, whatever its name and type. All of them are the
# same storage, so one object defines each of them at the start of one thread-local array. Reads READELF, OBJECTS
# (joined by '|'), COMPILER, OUTPUT (path of the object), BYTES and TLS_MODEL.
string(REPLACE "|" ";" objects "${OBJECTS}")
set(names)
foreach(object IN LISTS objects)
  execute_process(COMMAND ${READELF} --syms --wide ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "TLS +(GLOBAL|WEAK) +[A-Z]+ +UND +[^ \n]+" undefined "${symbols}")
  foreach(line IN LISTS undefined)
    string(REGEX REPLACE ".* " "" name "${line}")
    # What the runtime itself exports is not the kernels'.
    if(NOT name MATCHES "^_ZN6exactk11host_device")
      list(APPEND names ${name})
    endif()
  endforeach()
endforeach()
list(REMOVE_DUPLICATES names)

set(text "// Generated: the dynamic shared memory of one kernel library.\nasm(R\"(\n")
string(APPEND text ".section .tbss.exactk_dynamic_shared,\"awT\",@nobits\n.balign 64\n")
foreach(name IN LISTS names ITEMS exactk_dynamic_shared_storage)
  string(APPEND text ".globl ${name}\n.hidden ${name}\n.type ${name},@object\n.size ${name},${BYTES}\n${name}:\n")
endforeach()
string(APPEND text ".zero ${BYTES}\n.text\n)\");\n")
string(APPEND text "extern \"C\" {\n"
  "extern __attribute__((visibility(\"hidden\"), tls_model(\"${TLS_MODEL}\"))) "
  "__thread char exactk_dynamic_shared_storage[${BYTES}];\n"
  "__attribute__((visibility(\"hidden\"))) void* exactk_dynamic_shared_base() { "
  "return exactk_dynamic_shared_storage; }\n}\n")

file(WRITE ${OUTPUT}.cpp "${text}")
execute_process(COMMAND ${COMPILER} -O1 -fPIC -c ${OUTPUT}.cpp -o ${OUTPUT} COMMAND_ERROR_IS_FATAL ANY)
