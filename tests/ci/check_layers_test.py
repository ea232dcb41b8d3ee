"""ci/check_layers must pass a tree that keeps the rules, and fail at the right line of one that breaks a rule."""

import unittest

import scratch

CLEAN = {
    "oracle/topk.h": "#pragma once\n#include <vector>\nnamespace exactk::oracle {}\n",
    "oracle/topk.cpp": '#include "oracle/topk.h"\n#include <Eigen/Dense>\n// #include "kernels/registry.h"\n',
    "oracle/CMakeLists.txt": "add_library(exactk_oracle topk.cpp)  # not kernels/\n",
    "fixtures/case.h": "#pragma once\n",
    "fixtures/pattern_bits.h": "#pragma once\n#if defined(__HIPCC__)\n__host__ __device__ int bits();\n#endif\n",
    "kernels/registry.h": "#pragma once\n",
    "kernels/fill/fill.hip": '#include "fixtures/pattern_bits.h"\nint x = exactk::fixtures::kFirst;\n',
    "kernels/device/device.cpp": '#include <hip/hip_runtime.h>\nauto e = hipStreamCreate(&s);\n',
    "props/runner.cpp": '#include <rapidcheck.h>\n#include "oracle/topk.h"\n#include "fixtures/case.h"\n'
                        '#include "kernels/registry.h"\nconst char* text = "hipMalloc failed";\n',
    "tests/helper.h": "#pragma once\n",
    "tests/oracle/topk_test.cpp": '#include <gtest/gtest.h>\n#include <rapidcheck/gtest.h>\n'
                                  '#include "tests/helper.h"\n#include "oracle/topk.h"\nint million = 1\'000\'000;\n',
    "tests/kernels/device_test.cpp": "#include <hip/hip_runtime.h>\nhipError_t e = hipSuccess;\n",
}


class CheckLayers(scratch.CheckerCase):
    checker = "check_layers"

    def setUp(self):
        super().setUp()
        for name, text in CLEAN.items():
            self.write(name, text)

    def plant(self, name, text):
        self.write(name, CLEAN.get(name, "") + text)

    def test_passes_a_tree_that_keeps_every_rule(self):
        self.passes()

    def test_refuses_an_oracle_that_includes_a_kernel(self):
        self.plant("oracle/new.cpp", '\n\n#include "kernels/registry.h"\n')
        self.refuses("oracle/new.cpp", 3, "kernels/registry.h", "use only oracle")

    def test_refuses_an_oracle_that_includes_fixtures(self):
        self.plant("oracle/new.cpp", '#include "fixtures/case.h"\n')
        self.refuses("oracle/new.cpp", 1, "fixtures/case.h")

    def test_refuses_fixtures_that_include_the_oracle(self):
        self.plant("fixtures/new.h", '#include "oracle/topk.h"\n')
        self.refuses("fixtures/new.h", 1, "oracle/topk.h")

    def test_refuses_fixtures_that_include_a_kernel(self):
        self.plant("fixtures/new.h", '#include "kernels/registry.h"\n')
        self.refuses("fixtures/new.h", 1, "kernels/registry.h")

    def test_refuses_a_kernel_that_includes_the_oracle(self):
        self.plant("kernels/new.hip", '/* two\nlines */ #include "oracle/topk.h"\n')
        self.refuses("kernels/new.hip", 2, "oracle/topk.h")

    def test_refuses_pattern_bits_outside_kernels_fill(self):
        self.plant("kernels/topk/new.hip", '#include "fixtures/pattern_bits.h"\n')
        self.refuses("kernels/topk/new.hip", 1, "fixtures/pattern_bits.h")

    def test_refuses_another_fixture_in_kernels_fill(self):
        self.plant("kernels/fill/new.hip", '#include "fixtures/case.h"\n')
        self.refuses("kernels/fill/new.hip", 1, "use only fixtures/pattern_bits.h")

    def test_refuses_a_layer_that_includes_props(self):
        self.write("props/runner.h", "#pragma once\n")
        self.plant("kernels/new.cpp", '#include "props/runner.h"\n')
        self.refuses("kernels/new.cpp", 1, "props/runner.h")

    def test_refuses_props_that_include_tests(self):
        self.plant("props/new.cpp", '#include "tests/helper.h"\n')
        self.refuses("props/new.cpp", 1, "tests/helper.h")

    def test_refuses_a_name_of_another_layer_declared_by_hand(self):
        self.plant("kernels/new.cpp", "namespace exactk::oracle { int order(int); }\n")
        self.refuses("kernels/new.cpp", 1, "exactk::oracle")

    def test_refuses_an_include_in_angle_brackets_of_an_own_header(self):
        self.plant("oracle/new.cpp", "#include <oracle/topk.h>\n")
        self.refuses("oracle/new.cpp", 1, 'use "oracle/topk.h"')

    def test_refuses_an_include_relative_to_the_file(self):
        self.plant("oracle/new.cpp", '#include "topk.h"\n')
        self.refuses("oracle/new.cpp", 1, 'use "oracle/topk.h"')

    def test_refuses_an_include_that_steps_out_of_its_folder(self):
        self.plant("kernels/new.cpp", '#include <../oracle/topk.h>\n')
        self.refuses("kernels/new.cpp", 1, "use")

    def test_refuses_an_own_header_that_does_not_exist(self):
        self.plant("oracle/new.cpp", '#include "oracle/nowhere.h"\n')
        self.refuses("oracle/new.cpp", 1, "does not exist")

    def test_refuses_an_include_through_a_macro(self):
        self.plant("oracle/new.cpp", "#define WHERE \"kernels/registry.h\"\n#include WHERE\n")
        self.refuses("oracle/new.cpp", 2, "literal path")

    def test_refuses_eigen_in_a_header_of_the_oracle(self):
        self.plant("oracle/new.h", "#include <Eigen/Core>\n")
        self.refuses("oracle/new.h", 1, "oracle/*.cpp")

    def test_refuses_eigen_in_a_test(self):
        self.plant("tests/new.cpp", "#include <unsupported/Eigen/FFT>\n")
        self.refuses("tests/new.cpp", 1, "oracle/*.cpp")

    def test_refuses_rapidcheck_in_a_header_of_props(self):
        self.plant("props/new.h", "#include <rapidcheck/Gen.h>\n")
        self.refuses("props/new.h", 1, "props/*.cpp")

    def test_refuses_rapidcheck_in_fixtures(self):
        self.plant("fixtures/new.cpp", "#include <rapidcheck.h>\n")
        self.refuses("fixtures/new.cpp", 1, "props/*.cpp")

    def test_refuses_gtest_outside_tests(self):
        self.plant("props/new.cpp", "#include <gtest/gtest.h>\n")
        self.refuses("props/new.cpp", 1, "use it only in tests")

    def test_refuses_a_hip_header_outside_kernels(self):
        self.plant("props/new.cpp", "#include <hip/hip_runtime_api.h>\n")
        self.refuses("props/new.cpp", 1, "kernels")

    def test_refuses_a_cuda_header_outside_kernels(self):
        self.plant("tests/props/new.cpp", "#include <cuda_runtime.h>\n")
        self.refuses("tests/props/new.cpp", 1, "kernels")

    def test_refuses_a_hip_name_outside_kernels(self):
        self.plant("props/new.cpp", "// hipFree is fine here\nauto e = hipFree(p);\n")
        self.refuses("props/new.cpp", 2, "hipFree")

    def test_sees_code_between_a_digit_separator_and_a_character(self):
        self.plant("props/new.cpp", "int n = 1'000; auto e = hipFree(p); char c = 'x';\n")
        self.refuses("props/new.cpp", 1, "hipFree")

    def test_refuses_a_device_qualifier_in_another_header_of_fixtures(self):
        self.plant("fixtures/new.h", "__host__ int f();\n")
        self.refuses("fixtures/new.h", 1, "__host__")

    def test_refuses_a_hip_name_in_pattern_bits(self):
        self.plant("fixtures/pattern_bits.h", "inline int lane() { return threadIdx.x; }\n")
        self.refuses("fixtures/pattern_bits.h", 5, "threadIdx")

    def test_refuses_a_source_file_outside_the_layers(self):
        self.plant("common/order.h", "#pragma once\n")
        self.refuses("common/order.h", 1, "outside the layers")

    def test_refuses_a_library_linked_across_layers(self):
        self.write("kernels/CMakeLists.txt", "target_link_libraries(exactk_kernels_host\n  exactk::oracle)\n")
        self.refuses("kernels/CMakeLists.txt", 2, "exactk::oracle")

    def test_refuses_a_source_compiled_across_layers(self):
        self.write("kernels/CMakeLists.txt", "add_library(exactk_kernels_host ../oracle/topk.cpp)\n")
        self.refuses("kernels/CMakeLists.txt", 1, "oracle/")

    def test_refuses_a_tree_without_sources(self):
        for name in CLEAN:
            (self.root / name).unlink()
        got = self.command(scratch.CI / self.checker, self.root)
        self.assertEqual(1, got.returncode)
        self.assertIn("no file to check", got.stderr)

    def test_refuses_a_folder_that_git_does_not_know(self):
        got = self.command(scratch.CI / self.checker, self.root.parent)
        self.assertEqual(1, got.returncode)
        self.assertIn("git cannot list the files", got.stderr)


if __name__ == "__main__":
    unittest.main()
