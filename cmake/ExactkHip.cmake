# AMD through hipcc of any ROCm from 5.2 on. CMake's own HIP language does not find the files of Debian's packages, so
# kernel sources are compiled by a command, and everything else by the C++ compiler.
find_program(EXACTK_HIPCC hipcc HINTS $ENV{ROCM_PATH}/bin /opt/rocm/bin)
if(NOT EXACTK_HIPCC)
  message(FATAL_ERROR "Device hip needs hipcc: install ROCm, or run ci/setup --with hip, or set EXACTK_HIPCC")
endif()
find_path(EXACTK_HIP_INCLUDE hip/hip_runtime_api.h HINTS $ENV{ROCM_PATH}/include /opt/rocm/include REQUIRED)
find_library(EXACTK_HIP_LIBRARY amdhip64 HINTS $ENV{ROCM_PATH}/lib /opt/rocm/lib REQUIRED)

# Which of the targets this compiler makes code for: an empty kernel is compiled for each.
function(exactk_known_hip_architectures out)
  set(source ${CMAKE_BINARY_DIR}/CMakeFiles/exactk_probe.hip)
  file(WRITE ${source} "#include <hip/hip_runtime.h>\n__global__ void nothing() {}\n")
  set(known)
  foreach(architecture IN ITEMS gfx90a gfx942 gfx950)
    execute_process(COMMAND ${EXACTK_HIPCC} --offload-arch=${architecture} -c ${source} -o ${source}.o
      RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(NOT failed)
      list(APPEND known ${architecture})
    endif()
  endforeach()
  set(${out} ${known} PARENT_SCOPE)
endfunction()

if(NOT DEFINED CACHE{EXACTK_HIP_ARCHITECTURES})
  exactk_known_hip_architectures(architectures)
  if(NOT architectures)
    message(FATAL_ERROR "${EXACTK_HIPCC} makes code for none of gfx90a, gfx942, gfx950; set EXACTK_HIP_ARCHITECTURES, or mend it")
  endif()
  set(EXACTK_HIP_ARCHITECTURES ${architectures} CACHE STRING "AMD targets, by default those of gfx90a, gfx942, gfx950 that hipcc knows")
endif()
message(STATUS "HIP architectures: ${EXACTK_HIP_ARCHITECTURES}")

add_library(exactk_target_hip INTERFACE)
target_compile_definitions(exactk_target_hip INTERFACE EXACTK_TARGET_HIP __HIP_PLATFORM_AMD__=1)
target_include_directories(exactk_target_hip SYSTEM INTERFACE ${EXACTK_HIP_INCLUDE})
target_link_libraries(exactk_target_hip INTERFACE ${EXACTK_HIP_LIBRARY})

# exactk_hip_objects(OUT a.hip b.hip): sets OUT to the objects that hipcc makes of them.
function(exactk_hip_objects out)
  set(flags -std=c++20 -O3 -fPIC -Wall -Wextra -ffp-contract=off -DNDEBUG -DEXACTK_TARGET_HIP -I${PROJECT_SOURCE_DIR}
    -I${PROJECT_SOURCE_DIR}/kernels/abi)
  if(EXACTK_WERROR)
    list(APPEND flags -Werror)
  endif()
  foreach(architecture IN LISTS EXACTK_HIP_ARCHITECTURES)
    list(APPEND flags --offload-arch=${architecture})
  endforeach()
  set(objects)
  foreach(source IN LISTS ARGN)
    cmake_path(GET source FILENAME name)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${EXACTK_HIPCC} ${flags} -MD -MF ${object}.d -c ${source} -o ${object}
      DEPENDS ${source} DEPFILE ${object}.d
      COMMENT "Building HIP object ${name}.o" VERBATIM)
    set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    list(APPEND objects ${object})
  endforeach()
  set(${out} ${objects} PARENT_SCOPE)
endfunction()
