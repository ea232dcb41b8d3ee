"""ci/check_files and ci/check_format must pass a clean tree, and fail at the right line of one that breaks a rule."""

import unittest

import scratch

CLEAN = {
    "CMakeLists.txt": "add_subdirectory(oracle)\n",
    "oracle/CMakeLists.txt": "add_library(exactk_oracle\n  topk.cpp\n  deep/rank.cpp)\n"
                             "add_library(more ${CMAKE_CURRENT_SOURCE_DIR}/one.hip ${PROJECT_SOURCE_DIR}/oracle/two.c)\n",
    "oracle/topk.h": "#pragma once\n",
    "oracle/topk.cpp": "int topk();\n",
    "oracle/deep/rank.cpp": "int rank();\n",
    "oracle/one.hip": "int one();\n",
    "oracle/two.c": "int two(void);\n",
    "docs/page.md": "Text.\n",
}
UNFINISHED = "TO" + "DO"


class CheckFiles(scratch.CheckerCase):
    checker = "check_files"

    def setUp(self):
        super().setUp()
        for name, text in CLEAN.items():
            self.write(name, text)
        self.write("ci/run", "#!/bin/sh\nexit 0\n", executable=True)
        (self.root / "data.npy").write_bytes(b"\x93NUMPY\0\t \n\t")

    def test_passes_a_clean_tree(self):
        self.passes()

    def test_refuses_a_source_that_no_list_names(self):
        self.write("oracle/new.cpp", "int x;\n")
        self.refuses("oracle/new.cpp", 1, "oracle/CMakeLists.txt")

    def test_refuses_a_source_named_only_in_a_comment(self):
        self.write("oracle/CMakeLists.txt", CLEAN["oracle/CMakeLists.txt"] + "# new.hip\n")
        self.write("oracle/new.hip", "int x;\n")
        self.refuses("oracle/new.hip", 1, "source list")

    def test_refuses_a_source_listed_for_another_folder(self):
        self.write("fixtures/topk.cpp", "int x;\n")
        self.refuses("fixtures/topk.cpp", 1, "fixtures/CMakeLists.txt")

    def test_refuses_sources_collected_by_pattern(self):
        self.write("oracle/CMakeLists.txt", CLEAN["oracle/CMakeLists.txt"] + "file( GLOB_RECURSE all *.cpp)\n")
        self.refuses("oracle/CMakeLists.txt", 5, "explicit list")

    def test_refuses_another_suffix_for_cpp_sources(self):
        self.write("oracle/new.cc", "int x;\n")
        self.refuses("oracle/new.cc", 1, "use oracle/new.cpp")

    def test_refuses_701_lines(self):
        self.write("oracle/topk.h", "\n" * 701)
        self.refuses("oracle/topk.h", 701, "at most 700")

    def test_passes_700_lines(self):
        self.write("oracle/topk.h", "\n" * 700)
        self.passes()

    def test_refuses_a_tab(self):
        self.write("docs/page.md", "one\n\ttwo\n")
        self.refuses("docs/page.md", 2, "tab")

    def test_refuses_trailing_whitespace(self):
        self.write("docs/page.md", "one\ntwo \n")
        self.refuses("docs/page.md", 2, "trailing whitespace")

    def test_refuses_a_carriage_return(self):
        (self.root / "docs/page.md").write_bytes(b"one\r\n")
        self.refuses("docs/page.md", 1, "trailing whitespace")

    def test_refuses_a_file_that_ends_without_newline(self):
        self.write("docs/page.md", "one\ntwo")
        self.refuses("docs/page.md", 2, "newline")

    def test_refuses_a_marker_of_unfinished_work(self):
        self.write("oracle/topk.cpp", f"int topk();\n\n// {UNFINISHED}: sort\n")
        self.refuses("oracle/topk.cpp", 3, UNFINISHED)

    def test_refuses_a_script_that_is_not_executable(self):
        self.write("ci/new", "#!/bin/sh\n")
        self.refuses("ci/new", 1, "chmod +x")

    def test_refuses_an_executable_that_is_not_a_script(self):
        self.write("docs/page.md", "one\n", executable=True)
        self.refuses("docs/page.md", 1, "chmod -x")


class CheckFormat(scratch.CheckerCase):
    checker = "check_format"

    def setUp(self):
        super().setUp()
        self.copy(".clang-format")
        self.write("oracle/topk.h", "#pragma once\n")

    def test_passes_a_formatted_tree(self):
        self.passes()

    def test_refuses_a_source_that_is_not_formatted(self):
        for name in ("oracle/new.h", "oracle/new.cpp", "kernels/new.hip", "tests/new.c"):
            with self.subTest(name):
                self.write(name, "int one;\nint  two;\n")
                self.refuses(name, 2, "not formatted", "-i")
                (self.root / name).unlink()

    def test_refuses_a_tree_without_sources(self):
        (self.root / "oracle/topk.h").unlink()
        got = self.command(scratch.CI / self.checker, self.root)
        self.assertEqual(1, got.returncode)
        self.assertIn("no source file to check", got.stderr)


class Checks(scratch.ScratchCase):
    def test_fail_when_one_check_fails_and_still_run_the_others(self):
        self.copy(".clang-format")
        self.write("common/order.h", "#pragma once\n\t\nint  x;\n")
        got = self.command(scratch.CI / "checks", self.root)
        self.assertEqual(1, got.returncode)
        self.assertIn("failed: check_layers check_files check_format", got.stderr)


if __name__ == "__main__":
    unittest.main()
