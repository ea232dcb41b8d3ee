"""What a developer does with a failure: read it, replay it, list what there is."""

import json
import os
import re
import shlex
import tempfile

from tool import SOURCE, ToolTest, main

SMOKE = os.path.join(SOURCE, "fixtures/cases/smoke.cases")


class RunAndReplay(ToolTest):
    def test_planted_faults_fail_within_the_smoke_cases_and_replay(self):
        for mutant, diagnosis in {
            "mutant.pad_beats_minus_inf": "-inf",
            "mutant.tail_not_written": "bad positions are all >= length: the tail is not written",
        }.items():
            out, _ = self.call(1, "run", "--cases", SMOKE, "--kernel", mutant)
            self.assertIn("FAILED  " + mutant, out)
            self.assertIn(diagnosis, out)
            self.assertRegex(out, r"row \d+ +request \d+, draft \d+: length \d+, k \d+")
            line = re.search(r"^replay  exactk (replay .*)$", out, re.MULTILINE).group(1)
            again, _ = self.call(1, *shlex.split(line))
            why = re.search(r"^why .*$", out, re.MULTILINE).group(0)
            self.assertIn(why, again)

    def test_a_split_frozen_at_capture_fails_only_under_replay(self):
        out, _ = self.call(0, "list", "mutants")
        case = re.search(r"mutant.split_frozen_at_capture.*?reached by: (.*)$", out, re.MULTILINE | re.DOTALL).group(1)
        case = case.splitlines()[0]
        out, _ = self.call(1, "run", case, "--kernel", "mutant.split_frozen_at_capture")
        self.assertIn("a host decision is frozen", out)
        self.call(0, "run", case, "--kernel", "topk.split_merge")

    def test_a_kernel_that_never_returns_fails_its_case_and_the_run_goes_on(self):
        out, _ = self.call(
            1, "run", "topk.decode rows=2 width={64,65} k=8", "--kernel", "mutant.waits_for_ever", "--wave", "64",
            "--timeout", "2", "--shrink-budget", "0",
        )
        self.assertEqual(2, out.count("no answer for 2 seconds"), out)
        self.assertIn("replay  exactk replay 'topk.decode rows=2 width=65 k=8'", out)
        self.assertIn("failed 2", out.splitlines()[-1])

    def test_lists_kernels_devices_patterns_mutants_and_cases(self):
        kernels, _ = self.call(0, "list", "kernels")
        listed = [line.split()[0] for line in kernels.splitlines()]
        self.assertEqual(len(listed), len(set(listed)))
        for name in ("topk.auto", "topk.prefill_block", "combine.fused", "translate.rows", "swa.rows", "chain.decode_auto"):
            self.assertIn(name, listed)
        self.assertIn("host:0", self.call(0, "list", "devices")[0])
        self.assertIn("pattern=boundary_ties", self.call(0, "list", "patterns")[0])
        matrix = os.path.join(SOURCE, "fixtures/cases/matrix.cases")
        self.assertEqual(1008, len(self.call(0, "list", "cases", matrix)[0].splitlines()))

    def test_random_runs_depend_on_the_seed_alone(self):
        def lines(*arguments):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "report.json")
                self.call(0, "run", "--random", "5", "--kernel", "topk.block", "--wave", "64", "--json", path, *arguments)
                with open(path, encoding="utf-8") as file:
                    report = json.load(file)
                self.assertEqual(0, report["exit_code"])
                return [run["case"] for run in report["runs"]]

        self.assertEqual(lines("--seed", "5"), lines("--seed", "5"))
        self.assertNotEqual(lines("--seed", "5"), lines("--seed", "6"))

    def test_the_schedule_seed_of_the_line_replaces_the_case_s(self):
        out, _ = self.call(0, "replay", "topk.decode rows=2 width=64 k=8", "--schedule-seed", "9", "--kernel", "topk.block")
        self.assertIn("schedule=9", out)


if __name__ == "__main__":
    main()
