"""ci/gate around a stub of the tool, and ci/test around a small project: neither may pass when nothing was judged."""

import unittest

import scratch

# Exits with RC_<call> and prints LAST_<call> as its last line, for the calls 1 (smoke), 2 (published and matrix) and 3 (random).
TOOL = """#!/usr/bin/env bash
echo "$*" >>"$CALLS"
call=$(wc -l <"$CALLS")
rc=RC_$call last=LAST_$call
echo "output of call $call"
[[ ${!last-x} == none ]] || echo "${!last-passed 7, failed 0, weak 0, skipped 0}"
exit "${!rc-0}"
"""


class Gate(scratch.ScratchCase):
    def setUp(self):
        super().setUp()
        self.copy("ci/gate")
        self.write(".gitignore", "/build/\n")
        self.write("build/host/bin/exactk", TOOL, executable=True)
        for step in ("setup", "build"):
            self.write(f"ci/{step}", "#!/bin/sh\n", executable=True)
        self.commit_name = self.commit()

    def gate(self, *words, **environment):
        self.log = self.root.parent / "calls"
        self.log.write_text("", encoding="utf-8")
        return self.command(self.root / "ci/gate", *words, CALLS=str(self.log), **environment)

    def calls(self):
        return self.log.read_text(encoding="utf-8").splitlines()

    def summary(self, got):
        lines = got.stdout.splitlines()
        self.assertEqual([lines[-1]], [line for line in lines if line.startswith("gate ")], got.stdout)
        return lines[-1]

    def test_runs_stored_and_random_cases_at_both_wave_widths(self):
        got = self.gate()
        self.assertEqual(0, got.returncode, got.stderr)
        smoke, big, drawn = self.calls()
        self.assertIn("--cases fixtures/cases/smoke.cases", smoke)
        self.assertNotIn("--kernel", smoke)
        for name in ("published", "matrix_host"):
            self.assertIn(f"--cases fixtures/cases/{name}.cases", big)
        for words in (smoke, big, drawn):
            self.assertIn("--device host --wave both", words)
        self.assertIn("--random 100000", drawn)
        self.assertIn("--budget 60", drawn)

    def test_ends_with_one_summary_line(self):
        line = self.summary(self.gate())
        self.assertTrue(line.startswith(f"gate passed: commit {self.commit_name[:12]}, "), line)
        self.assertEqual(3, line.count("passed 7, failed 0, weak 0, skipped 0 (exit 0)"), line)

    def test_shows_what_the_tool_printed(self):
        got = self.gate()
        self.assertIn("output of call 1\n", got.stdout)
        self.assertIn("output of call 2\n", got.stdout)
        self.assertIn("output of call 3\n", got.stdout)

    def test_makes_the_seed_from_the_commit_and_prints_it_first(self):
        got = self.gate()
        seed = int(self.commit_name[:8], 16)
        self.assertIn(f"--seed {seed} ", self.calls()[2])
        self.assertLess(got.stdout.index(f"seed {seed}"), got.stdout.index("output of call 1"))

    def test_takes_seed_and_budget_from_the_environment(self):
        self.gate(EXACTK_SEED="18446744073709551615", EXACTK_GATE_BUDGET_S="5")
        self.assertIn("--seed 18446744073709551615 --budget 5 ", self.calls()[2])

    def test_says_when_the_tree_differs_from_the_commit(self):
        self.write("new.txt", "x\n")
        self.assertIn(f"commit {self.commit_name[:12]}+changes", self.summary(self.gate()))

    def test_exits_with_the_code_of_the_first_run_that_failed_and_makes_all(self):
        got = self.gate(RC_1="5", RC_2="1")
        self.assertEqual((5, 3), (got.returncode, len(self.calls())))
        self.assertIn("gate FAILED (exit 5)", self.summary(got))

    def test_fails_when_only_the_random_run_fails(self):
        got = self.gate(RC_3="1")
        self.assertEqual(1, got.returncode)
        self.assertIn("gate FAILED (exit 1)", self.summary(got))

    def test_fails_when_a_run_exits_0_but_passed_nothing(self):
        for last in ("passed 0, failed 0, weak 0, skipped 9", "bypassed 3", "none"):
            for call in ("LAST_1", "LAST_2", "LAST_3"):
                with self.subTest(last=last, call=call):
                    got = self.gate(**{call: last})
                    self.assertEqual(3, got.returncode)
                    self.assertIn("gate FAILED (exit 3)", self.summary(got))

    def test_fails_when_the_build_fails_and_runs_nothing(self):
        self.write("ci/build", "#!/bin/sh\nexit 1\n", executable=True)
        got = self.gate()
        self.assertEqual((1, []), (got.returncode, self.calls()))

    def test_refuses_bad_arguments_with_one_sentence(self):
        for words, environment in ((["--fast"], {}), ([], {"EXACTK_SEED": "0x12"}), ([], {"EXACTK_GATE_BUDGET_S": "0"})):
            with self.subTest(words=words, environment=environment):
                got = self.gate(*words, **environment)
                self.assertEqual((2, "", 1, []), (got.returncode, got.stdout, got.stderr.count("\n"), self.calls()))

    def test_prints_its_usage(self):
        got = self.gate("--help")
        self.assertEqual((0, []), (got.returncode, self.calls()))
        self.assertIn("EXACTK_SEED", got.stdout)


class CiTest(scratch.ScratchCase):
    def setUp(self):
        super().setUp()
        for name in ("ci/test", "ci/build", ".ci/run", "CMakePresets.json"):
            self.copy(name)
        for step in ("setup", "checks", "check_hip"):
            self.write(f"ci/{step}", "#!/bin/sh\n", executable=True)

    def ci_test(self, *tests):
        """Runs .ci/run on a project that has the given (name, label, command) tests."""
        lines = ["cmake_minimum_required(VERSION 3.25)", "project(small LANGUAGES NONE)", "enable_testing()"]
        for name, label, program in tests:
            lines += [f"add_test(NAME {name} COMMAND {program})",
                      f"set_tests_properties({name} PROPERTIES LABELS {label})"]
        self.write("CMakeLists.txt", "\n".join(lines) + "\n")
        return self.command("bash", self.root / ".ci/run")

    def test_runs_quick_and_standard_tests_and_no_others(self):
        got = self.ci_test(("a", "quick", "true"), ("b", "standard", "true"), ("c", "comprehensive", "false"),
                           ("d", "quickly", "false"))
        self.assertEqual(0, got.returncode, got.stdout + got.stderr)
        self.assertIn("100% tests passed, 0 tests failed out of 2", got.stdout)

    def test_fails_when_a_test_fails(self):
        got = self.ci_test(("a", "quick", "true"), ("b", "standard", "false"))
        self.assertNotEqual(0, got.returncode)
        self.assertIn("50% tests passed, 1 tests failed out of 2", got.stdout)

    def test_fails_when_no_test_has_a_label_that_it_runs(self):
        got = self.ci_test(("a", "full", "true"))
        self.assertNotEqual(0, got.returncode, got.stdout)
        self.assertIn("No tests were found", got.stdout + got.stderr)

    def test_fails_when_a_check_fails(self):
        for check in ("checks", "check_hip"):
            with self.subTest(check=check):
                self.write(f"ci/{check}", "#!/bin/sh\nexit 1\n", executable=True)
                self.assertEqual(1, self.ci_test(("a", "quick", "true")).returncode)
                self.write(f"ci/{check}", "#!/bin/sh\n", executable=True)


if __name__ == "__main__":
    unittest.main()
