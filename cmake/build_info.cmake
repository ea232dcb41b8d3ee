# Writes OUTPUT, a source file that knows the commit of SOURCE_DIR and the compiler; leaves it alone if nothing changed.
execute_process(COMMAND git -C ${SOURCE_DIR} rev-parse HEAD
  OUTPUT_VARIABLE commit_id OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit_id "")
  set(commit unknown)
else()
  string(SUBSTRING ${commit_id} 0 7 commit)
  execute_process(COMMAND git -C ${SOURCE_DIR} status --porcelain --untracked-files=no
    OUTPUT_VARIABLE changes OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(changes)
    string(APPEND commit "+")
  endif()
endif()
string(REPLACE "GNU" "g++" COMPILER "${COMPILER}")
string(REPLACE "Clang" "clang++" COMPILER "${COMPILER}")
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[#include "props/build_info.h"

namespace exactk::props {

std::string build_commit() { return "@commit@"; }
std::string build_commit_id() { return "@commit_id@"; }
std::string build_compiler() { return "@COMPILER@"; }

}  // namespace exactk::props
]])
