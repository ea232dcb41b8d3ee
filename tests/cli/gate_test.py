"""A candidate kernel against a baseline: what fails the gate, what it reports, and its times."""

import json
import os
import shlex
import subprocess
import tempfile

from tool import SOURCE, TOOL, ToolTest, main

SMOKE = os.path.join(SOURCE, "fixtures/cases/smoke.cases")
MUTANT = "mutant.tail_not_written"
SHORT = "topk.decode rows=2 width=64 k=8 lens=const:{5,64}"  # the tail of the first case is not all columns
WEAK = "topk.decode rows=2 width=64 k=8 lens=const:0"


class Gate(ToolTest):
    def gate(self, code, baseline, candidate, *arguments):
        return self.call(code, "gate", "--baseline", baseline, "--candidate", candidate, *arguments)

    def report(self, code, baseline, candidate, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "gate.json")
            out, _ = self.gate(code, baseline, candidate, "--json", path, *arguments)
            with open(path, encoding="utf-8") as file:
                return out, json.load(file)

    def test_two_right_kernels_pass_on_stored_and_random_cases_with_their_coverage(self):
        out, report = self.report(0, "topk.block", "topk.stable", "--cases", SMOKE, "--filter", "topk.decode*launch=graph*",
                                  "--random", "10", "--seed", "3")
        self.assertRegex(out.splitlines()[-1], r"^gate passed: topk.stable against topk.block: both right [1-9]")
        self.assertRegex(out, r"\npath +full_radix x1 \d+")
        self.assertEqual({"topk.stable": report["judged_by_both"]}, report["coverage"]["kernel"])
        self.assertIn("graph", report["coverage"]["launch"])
        self.assertEqual((0, []), (report["exit_code"], report["differences"]))

    def test_a_candidate_that_is_wrong_where_the_baseline_is_right_is_newly_broken_with_its_replay(self):
        out, report = self.report(1, "topk.block", MUTANT, SHORT)
        self.assertIn("FAILED  " + MUTANT, out)
        self.assertEqual("gate FAILED: mutant.tail_not_written against topk.block: both right 2, newly fixed 0, "
                         "newly broken 2", out.splitlines()[-1])
        self.assertEqual(["newly broken"] * 2, [d["change"] for d in report["differences"]])
        self.assertEqual(1, report["exit_code"])
        again, _ = self.call(1, *shlex.split(report["differences"][0]["replay"])[1:])
        self.assertIn("the tail is not written", again)

    def test_a_candidate_that_is_right_where_the_baseline_is_wrong_is_newly_fixed_and_passes(self):
        out, report = self.report(0, MUTANT, "topk.block", SHORT)
        self.assertIn("newly fixed 2: the baseline is wrong, the candidate right", out)
        self.assertEqual(2, report["totals"]["newly fixed"])
        replay = report["differences"][0]["replay"]
        self.assertIn("--kernel " + MUTANT, replay)
        self.call(1, *shlex.split(replay)[1:])

    def test_a_candidate_that_is_wrong_as_the_baseline_was_fails(self):
        out, _ = self.gate(1, MUTANT, MUTANT, SHORT)
        self.assertIn("still broken 2", out.splitlines()[-1])

    def test_a_candidate_that_declines_what_the_baseline_takes_stops_supporting_it(self):
        out, report = self.report(1, "topk.auto", "topk.k512", SHORT, "topk.decode rows=2 width=1024 k=512")
        self.assertIn("stops supporting 4: the baseline takes them, the candidate does not", out)
        self.assertIn("stops supporting 4", out.splitlines()[-1])
        difference = report["differences"][0]
        self.assertEqual(("passed", "skipped"), (difference["baseline"], difference["candidate"]))
        self.assertIn("512", difference["reason"])
        out, _ = self.gate(0, "topk.k512", "topk.auto", SHORT, "topk.decode rows=2 width=1024 k=512")
        self.assertIn("newly supported 4", out.splitlines()[-1])

    def test_nothing_judged_on_both_exits_3(self):
        for arguments in (SHORT,), ("index.swa",):
            with self.subTest(arguments):
                _, errors = self.gate(3, "topk.k512", "topk.k1024", *arguments)
                self.assertIn("nothing was judged on both", errors)

    def test_weak_cases_exit_3_unless_allowed(self):
        self.gate(3, "topk.block", "topk.stable", WEAK)
        self.gate(0, "topk.block", "topk.stable", WEAK, "--allow-weak")

    def test_a_budget_that_ends_before_the_listed_cases_exits_5(self):
        self.gate(5, "topk.block", "topk.stable", "topk.decode rows={1,2,3,4,5,6} width={64,65,66} k=8", "--budget", "0.001")

    def test_bad_names_and_options_exit_2_and_an_absent_device_4(self):
        def refused(code, words, baseline, candidate, *arguments):
            self.refused(code, words, "gate", "--baseline", baseline, "--candidate", candidate, SHORT, *arguments)

        refused(2, ["topk.blok"], "topk.blok", "topk.auto")
        refused(2, ["several", "topk.*"], "topk.auto", "topk.*")
        refused(2, ["topk.prefill_block", "one operation"], "topk.auto", "topk.prefill_block")
        refused(2, ["--time-limit", "--time"], "topk.auto", "topk.block", "--time-limit", "2")
        refused(2, ["--kernel"], "topk.auto", "topk.block", "--kernel", "topk.block")
        refused(2, ["/no/such/folder"], "topk.auto", "topk.block", "--json", "/no/such/folder/x.json")
        refused(4, ["warp9"], "topk.auto", "topk.block", "--device", "warp9")
        self.refused(2, ["nothing to run"], "gate", "--baseline", "topk.auto", "--candidate", "topk.block")
        self.refused(2, ["--baseline"], "gate", "--candidate", "topk.block", SHORT)

    def test_a_kernel_of_a_plugin_is_judged_and_timed_against_a_built_in_one(self):
        plugin = os.path.join(os.path.dirname(TOOL), "../plugins/exactk_example_c.so")
        out, report = self.report(0, "topk.block", "example.c_sort", SHORT, "--plugin", plugin, "--wave", "64", "--time")
        self.assertIn("both right 2", out.splitlines()[-1])
        self.assertEqual([25, 25], [c.get("pairs") for c in report["time"]["cases"]], report["time"])

    def test_two_builds_of_a_plugin_may_have_the_same_kernel(self):
        with open(os.path.join(SOURCE, "kernels/examples/topk_c.c"), encoding="utf-8") as file:
            right = file.read()
        wrong = right.replace("candidates[slot].column : -1;", "candidates[slot].column : 0;")
        self.assertNotEqual(right, wrong)
        with tempfile.TemporaryDirectory() as folder:
            for name, text in ("right", right), ("wrong", wrong):
                source = os.path.join(folder, name + ".c")
                with open(source, "w", encoding="utf-8") as file:
                    file.write(text)
                subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-O2", "-shared", "-fPIC", "-I",
                                os.path.join(SOURCE, "kernels/abi"), source, "-o", os.path.join(folder, name + ".so")], check=True)
            old, new = os.path.join(folder, "right.so"), os.path.join(folder, "wrong.so")
            out, _ = self.gate(1, old, new, SHORT, "--wave", "64")
            self.assertIn("newly broken 1", out.splitlines()[-1])
            self.assertRegex(out, r"exactk replay '.*' --kernel example.c_sort --plugin \S*wrong.so")
            out, _ = self.gate(0, new, old, SHORT, "--wave", "64")
            self.assertIn("newly fixed 1", out.splitlines()[-1])
            out, _ = self.gate(0, "topk.block", old + ":example.c_sort", SHORT, "--wave", "64", "--time")
            self.assertIn("both right 2", out.splitlines()[-1])
            self.assertIn("medians of", out)
            self.refused(2, ["no.such"], "gate", "--baseline", old, "--candidate", old + ":no.such", SHORT)

    def test_a_plugin_that_is_refused_fails_the_gate(self):
        library = os.path.join(os.path.dirname(TOOL), "../kernels/device/host/libexactk_host_device.so")
        for baseline, candidate in ("topk.block", "topk.new"), ("topk.block", "topk.stable"):
            out, errors = self.gate(1, baseline, candidate, SHORT, "--plugin", library)
            self.assertIn("does not export exactk_plugin_v1", out)
            self.assertIn("refused, so nothing is compared", errors)

    def test_times_of_a_slower_candidate_are_said_and_fail_the_limit(self):
        # With these numbers topk.split_merge puts ten times the blocks to work; on the host device it takes several
        # times as long, which no busy machine hides.
        fast, slow = "topk.block", "topk.split_merge"
        line = ("topk.decode rows=4 width=2000 k=64 tune=radix_width:128,split_width:256 launch={direct,graph}",
                "--wave", "64", "--time")
        out, report = self.report(0, fast, slow, *line)
        self.assertEqual(["slower", "slower"], [c["is"] for c in report["time"]["cases"]])
        for ratio in report["time"]["cases"]:
            self.assertTrue(1 < ratio["lower"] <= ratio["ratio"] <= ratio["upper"], ratio)
        self.assertRegex(out, r"\n  \d+\.\d{3} \[\d+\.\d{3}, \d+\.\d{3}\]  slower  all together\n")
        self.assertIn("slower 2, faster 0, no difference shown 0", out)
        self.gate(0, fast, slow, *line, "--time-limit", "1000")
        _, errors = self.gate(1, fast, slow, *line, "--time-limit", "1")
        self.assertRegex(errors, r"takes at least \d+\.\d{3} times as long as the baseline, and --time-limit is 1")
        self.gate(0, slow, fast, *line, "--time-limit", "1")

    def test_what_could_not_be_timed_does_not_pass_a_limit(self):
        self.gate(0, MUTANT, "topk.block", "topk.decode rows=2 width=64 k=8 lens=const:5", "--time")
        _, errors = self.gate(3, MUTANT, "topk.block", "topk.decode rows=2 width=64 k=8 lens=const:5", "--time",
                              "--time-limit", "9")
        self.assertIn("not every case could be timed", errors)


if __name__ == "__main__":
    main()
