# How every library and test of the project is built, in one place.
include(GoogleTest)

add_library(exactk_options INTERFACE)
target_include_directories(exactk_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_features(exactk_options INTERFACE cxx_std_20)
target_compile_options(exactk_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-ffp-contract=off>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra;--fmad=false>)
if(EXACTK_WERROR)
  target_compile_options(exactk_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror> $<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings>)
endif()
if(EXACTK_PORTABLE)
  target_link_options(exactk_options INTERFACE -static-libgcc -static-libstdc++)
endif()
if(EXACTK_SANITIZE)
  target_compile_options(exactk_options INTERFACE -fsanitize=${EXACTK_SANITIZE} -fno-omit-frame-pointer
                                                  -fno-sanitize-recover=all)
  target_link_options(exactk_options INTERFACE -fsanitize=${EXACTK_SANITIZE})
endif()

# exactk_add_test(NAME oracle_topk TIER quick SOURCES a_test.cpp LIBRARIES exactk::oracle)
# DEVICE kind: the test runs on a device of that kind; where there is none, each of its tests is skipped with the reason.
# One executable; each of its GoogleTest tests is one ctest entry with exactly one tier label (quick, standard,
# comprehensive or full). Sharding by the environment is switched off, because ctest shards already: both together would
# silently drop tests.
function(exactk_add_test)
  cmake_parse_arguments(arg "" "NAME;TIER;TIMEOUT_S;DEVICE" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT arg_TIER MATCHES "^(quick|standard|comprehensive|full)$")
    message(FATAL_ERROR "exactk_add_test(${arg_NAME}): TIER is '${arg_TIER}'; use quick, standard, comprehensive or full")
  endif()
  if(NOT arg_TIMEOUT_S)
    set(arg_TIMEOUT_S 300)
  endif()
  add_executable(${arg_NAME}_test ${arg_SOURCES})
  target_link_libraries(${arg_NAME}_test PRIVATE exactk_options ${arg_LIBRARIES})
  if(arg_DEVICE)
    target_link_libraries(${arg_NAME}_test PRIVATE exactk_device_test_main_${arg_DEVICE} GTest::gtest)
  else()
    target_link_libraries(${arg_NAME}_test PRIVATE GTest::gtest GTest::gtest_main)
  endif()
  gtest_discover_tests(${arg_NAME}_test
    TEST_PREFIX ${arg_NAME}.
    DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${arg_TIER} TIMEOUT ${arg_TIMEOUT_S}
      ENVIRONMENT_MODIFICATION "GTEST_TOTAL_SHARDS=unset:;GTEST_SHARD_INDEX=unset:")
endfunction()

# exactk_add_plugin(name a.c b.cpp)
# A shared library with kernels, build/.../plugins/name.so; its sources find <exactk_abi.h> as outside of the project.
function(exactk_add_plugin name)
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE exactk_options)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/kernels/abi)
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:C>:-Wall;-Wextra;-pedantic>)
  if(EXACTK_WERROR)
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:C>:-Werror>)
  endif()
  set_target_properties(${name} PROPERTIES PREFIX "" LINKER_LANGUAGE CXX C_STANDARD 11 C_EXTENSIONS OFF
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/plugins)
endfunction()

# exactk_gpu_kernel_sources(cuda OUT a.hip b.hip)
# Sets OUT to what a static library lists for kernel sources, given as absolute paths. The host device has
# exactk_kernel_options_host(), in another directory, because a source file has one language per directory.
function(exactk_gpu_kernel_sources device out)
  if(device STREQUAL cuda)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
    set(${out} ${ARGN} PARENT_SCOPE)
  else()
    exactk_hip_objects(objects ${ARGN})
    set(${out} ${objects} PARENT_SCOPE)
  endif()
endfunction()
