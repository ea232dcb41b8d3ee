// The fuzzers' inputs, without a fuzzer: what was once found stays found.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/fuzz/targets.h"

namespace exactk::tests {
namespace {

void run_corpus(const char* name, void (*target)(std::string_view)) {
  const std::filesystem::path folder = std::filesystem::path(EXACTK_CORPUS) / name;
  int inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string input(std::istreambuf_iterator<char>(file), {});
    EXPECT_NO_THROW(target(input)) << entry.path();
    ++inputs;
  }
  EXPECT_GT(inputs, 0) << "no input in " << folder;
}

TEST(Corpus, OfNpyFilesHolds) {
  run_corpus("npy", fuzz_npy);
}
TEST(Corpus, OfCaseLinesHolds) {
  run_corpus("case", fuzz_case);
}
TEST(Corpus, OfCaseFilesHolds) {
  run_corpus("case_file", fuzz_case_file);
}
TEST(Corpus, OfOutcomesHolds) {
  run_corpus("json", fuzz_json);
}

}  // namespace
}  // namespace exactk::tests
