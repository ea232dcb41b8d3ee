# exactk_kernel_options_host(target)
# What a shared library with kernels needs on the host device. Its .hip sources are C++ (LANGUAGE CXX); the library has a
# thread-local segment of its own, which is the shared memory of its blocks, so it must not hold anything else that is
# thread-local. Call it in the directory that creates the target.

function(exactk_kernel_options_host target)
  get_target_property(type ${target} TYPE)
  if(NOT type MATCHES "^(SHARED|MODULE)_LIBRARY$")
    message(FATAL_ERROR "exactk_kernel_options_host(${target}): kernels need a shared library of their own")
  endif()
  target_link_libraries(${target} PRIVATE exactk_host_device)

  # The fast model takes the segment from space that the process sets aside at its start, where a library that is loaded
  # later, a plugin, finds too little.
  set(tls_model initial-exec)
  if(type STREQUAL MODULE_LIBRARY)
    set(tls_model global-dynamic)
  endif()

  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.hip$")
  # Unrolling hints of one compiler are unknown to the other.
  set(options -fPIC -ftls-model=${tls_model} -fvisibility=hidden -fvisibility-inlines-hidden -ffp-contract=off
    -Wno-unknown-pragmas)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # Unique symbols would tie the shared memory of two libraries together; shared arrays are defined by the link step.
    list(APPEND options -fno-gnu-unique -fno-extern-tls-init)
  endif()
  set_source_files_properties(${sources} PROPERTIES LANGUAGE CXX)
  foreach(source IN LISTS sources)
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS ${options})
  endforeach()

  find_program(EXACTK_READELF NAMES ${CMAKE_READELF} readelf llvm-readelf REQUIRED)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${target}_dynamic_shared.o)
  add_custom_command(TARGET ${target} PRE_LINK
    COMMAND ${CMAKE_COMMAND} -DREADELF=${EXACTK_READELF} "-DOBJECTS=$<JOIN:$<TARGET_OBJECTS:${target}>,|>"
      -DCOMPILER=${CMAKE_CXX_COMPILER} -DOUTPUT=${object} -DBYTES=163840
      -DTLS_MODEL=${tls_model}
      -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/dynamic_shared.cmake
    VERBATIM)
  target_link_options(${target} PRIVATE ${object})
endfunction()
