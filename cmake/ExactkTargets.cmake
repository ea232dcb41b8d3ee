# How every library and test of the project is built, in one place.
include(GoogleTest)

add_library(exactk_options INTERFACE)
target_include_directories(exactk_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_features(exactk_options INTERFACE cxx_std_20)
target_compile_options(exactk_options INTERFACE -Wall -Wextra -ffp-contract=off)
if(EXACTK_WERROR)
  target_compile_options(exactk_options INTERFACE -Werror)
endif()
if(EXACTK_SANITIZE)
  target_compile_options(exactk_options INTERFACE -fsanitize=${EXACTK_SANITIZE} -fno-omit-frame-pointer
                                                  -fno-sanitize-recover=all)
  target_link_options(exactk_options INTERFACE -fsanitize=${EXACTK_SANITIZE})
endif()

# exactk_add_test(NAME oracle_topk TIER quick SOURCES a_test.cpp LIBRARIES exactk::oracle)
# One executable; each of its GoogleTest tests is one ctest entry with exactly one tier label (quick, standard,
# comprehensive or full). Sharding by the environment is switched off, because ctest shards already: both together would
# silently drop tests.
function(exactk_add_test)
  cmake_parse_arguments(arg "" "NAME;TIER;TIMEOUT_S" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT arg_TIER MATCHES "^(quick|standard|comprehensive|full)$")
    message(FATAL_ERROR "exactk_add_test(${arg_NAME}): TIER is '${arg_TIER}'; use quick, standard, comprehensive or full")
  endif()
  if(NOT arg_TIMEOUT_S)
    set(arg_TIMEOUT_S 300)
  endif()
  add_executable(${arg_NAME}_test ${arg_SOURCES})
  target_link_libraries(${arg_NAME}_test PRIVATE exactk_options ${arg_LIBRARIES} GTest::gtest GTest::gtest_main)
  gtest_discover_tests(${arg_NAME}_test
    TEST_PREFIX ${arg_NAME}.
    DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${arg_TIER} TIMEOUT ${arg_TIMEOUT_S}
      ENVIRONMENT_MODIFICATION "GTEST_TOTAL_SHARDS=unset:;GTEST_SHARD_INDEX=unset:")
endfunction()
