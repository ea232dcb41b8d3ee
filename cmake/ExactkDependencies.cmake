# Every package that the project needs, from the distribution. A missing one is named together with the command that
# installs all of them.
set(_exactk_missing)
macro(exactk_find package debian_name)
  find_package(${package} ${ARGN} QUIET)
  if(NOT ${package}_FOUND)
    list(APPEND _exactk_missing "${package} (${debian_name})")
  endif()
endmacro()

exactk_find(Threads libc6-dev)
exactk_find(GTest libgtest-dev)
exactk_find(rapidcheck librapidcheck-dev)
exactk_find(Boost libboost-dev)
if(host IN_LIST EXACTK_DEVICES)
  exactk_find(Boost libboost-context-dev COMPONENTS context)
endif()
exactk_find(CLI11 libcli11-dev)
exactk_find(fmt libfmt-dev)
exactk_find(nlohmann_json nlohmann-json3-dev)
exactk_find(tl-expected libexpected-dev)

if(_exactk_missing)
  list(JOIN _exactk_missing ", " _exactk_missing_text)
  message(FATAL_ERROR "Missing packages: ${_exactk_missing_text}. Run ci/setup to install all of them.")
endif()

# fmt as a library, or compiled into each program.
add_library(exactk_fmt INTERFACE)
add_library(exactk::fmt ALIAS exactk_fmt)
target_link_libraries(exactk_fmt INTERFACE $<IF:$<BOOL:${EXACTK_PORTABLE}>,fmt::fmt-header-only,fmt::fmt>)
