"""What becomes of a failure: on disk at once, run again, made small, in the reports, kept as a regression."""

import json
import os
import re
import shlex
import signal
import subprocess
import tempfile
import time
import xml.etree.ElementTree

from tool import SOURCE, TOOL, ToolTest, main

TAIL = "topk.decode rows=4 width=256 k=8 lens=list:6:8:20:200"


class Failures(ToolTest):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def lines(self, name="failures.jsonl"):
        with open(self.path(name), encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def test_a_failure_is_on_disk_before_the_next_launch_and_survives_a_kill(self):
        command = [
            TOOL, "run", TAIL, "topk.decode rows=2 width=64 k=8", "--kernel", "mutant.tail_not_written,mutant.waits_for_ever",
            "--wave", "64", "--failures", self.path("failures.jsonl"),
        ]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as tool:
            for _ in range(600):
                if os.path.exists(self.path("failures.jsonl")) and self.lines():
                    break
                time.sleep(0.1)
            self.assertIsNone(tool.poll())  # it hangs in what comes next
            os.killpg(tool.pid, signal.SIGKILL)
        first = self.lines()[0]
        self.assertEqual(TAIL, first["case"])
        self.assertEqual(("mutant.tail_not_written", "host", 64, "failed", "run"),
                         tuple(first[key] for key in ("kernel", "device", "wave", "verdict", "stage")))
        self.assertIn("the tail is not written", first["reason"])
        self.assertIn("never written", first["report"])
        self.assertEqual({"commit", "compiler", "system"}, set(first["environment"]))
        self.assertEqual(0, first["schedule"])
        again, _ = self.call(1, *shlex.split(first["replay"])[1:])
        self.assertIn(first["reason"], again)

    def test_the_first_failure_of_a_kernel_is_run_again_and_made_small_within_the_run(self):
        out, _ = self.call(1, "run", TAIL, TAIL + " seed=2", "--kernel", "mutant.tail_not_written", "--wave", "64",
                           "--failures", self.path("failures.jsonl"))
        self.assertEqual(1, out.count("again     mutant.tail_not_written"), out)
        self.assertIn("deterministic: fails 5 of 5", out)
        self.assertIn("smallest  topk.decode rows=1 width=1 k=1 lens=const:0", out)
        self.assertIn("all of them: " + self.path("failures.jsonl"), out)
        self.assertEqual(["run", "run", "again", "shrunk"], [line["stage"] for line in self.lines()])
        self.assertEqual("deterministic: fails 5 of 5", self.lines()[2]["recurrence"])
        self.assertEqual(2, len(re.findall(r"^  exactk replay", out, re.MULTILINE)))

    def test_nothing_is_written_or_made_small_where_it_is_not_wanted(self):
        out, _ = self.call(1, "run", TAIL, "--kernel", "mutant.tail_not_written", "--shrink-budget", "0", "--failures", "none")
        self.assertNotIn("smallest", out)
        self.assertNotIn("again", out)
        self.call(0, "run", TAIL, "--kernel", "topk.block", "--failures", self.path("failures.jsonl"))
        self.assertFalse(os.path.exists(self.path("failures.jsonl")))
        self.refused(2, ["/no/such/folder/f.jsonl", "--failures"], "run", TAIL, "--failures", "/no/such/folder/f.jsonl")

    def test_junit_holds_every_run_and_the_whole_report_of_a_failure(self):
        self.call(1, "run", TAIL, "topk.decode rows=2 width=64 k=3", "--kernel", "mutant.tail_not_written,topk.k512", "--wave",
                  "64", "--junit", self.path("j.xml"), "--failures", "none", "--shrink-budget", "0")
        root = xml.etree.ElementTree.parse(self.path("j.xml")).getroot()
        suites = {suite.get("name"): suite for suite in root}
        self.assertEqual({"mutant.tail_not_written", "topk.k512"}, set(suites))
        self.assertEqual(("2", "2", "0"), tuple(suites["mutant.tail_not_written"].get(key) for key in ("tests", "failures", "skipped")))
        self.assertEqual(("2", "0", "2"), tuple(suites["topk.k512"].get(key) for key in ("tests", "failures", "skipped")))
        failure = suites["mutant.tail_not_written"][0].find("failure")
        self.assertIn("case    " + TAIL, failure.text)
        self.assertIn("replay  exactk replay '" + TAIL, failure.text)
        self.assertIn("takes k = 512 only", suites["topk.k512"][0].find("skipped").get("message"))

    def verdicts(self, *arguments, code=1):
        path = self.path("report.json")
        self.call(code, "run", "--json", path, "--failures", "none", "--shrink-budget", "0", *arguments)
        with open(path, encoding="utf-8") as file:
            return [(run["case"], run["kernel"], run["wave"], run["verdict"], run["reason"]) for run in json.load(file)["runs"]]

    def test_results_depend_neither_on_shard_nor_filter_nor_order_nor_threads(self):
        random = ("--random", "24", "--seed", "5", "--kernel", "topk.block,swa.rows,mutant.tail_not_written", "--wave", "64")
        whole = self.verdicts(*random)
        self.assertGreater(len({case for case, *_ in whole}), 20)
        shards = [run for part in range(3) for run in self.verdicts(*random, "--shard", f"{part}/3")]
        self.assertEqual(sorted(whole), sorted(shards))
        self.assertEqual(whole, self.verdicts(*random, "--workers", "1"))
        self.assertEqual(whole, self.verdicts(*random, "--workers", "5"))
        # The cases of an operation are the same whatever other kernels are selected.
        alone = self.verdicts("--random", "6", "--seed", "5", "--kernel", "swa.rows", "--wave", "64", code=0)
        of_swa = [run for run in whole if run[1] == "swa.rows"]
        self.assertEqual(of_swa, alone[: len(of_swa)])
        backwards = self.verdicts(*reversed(list(dict.fromkeys(case for case, *_ in whole))), "--kernel",
                                  "topk.block,swa.rows,mutant.tail_not_written", "--wave", "64")
        self.assertEqual(sorted(whole), sorted(backwards))

    def test_the_seed_is_the_commit_s_unless_given_and_is_printed_first(self):
        out, _ = self.call(0, "run", "--random", "1", "--kernel", "topk.block", "--wave", "64")
        commit = re.search(r"commit ([0-9a-f]{7})", self.call(0, "--version")[0])
        if commit is None:
            self.assertTrue(out.startswith("seed 1 (no commit is known)"), out)
        else:
            seed = int(re.match(r"seed (\d+) \(the first digits of commit", out).group(1))
            self.assertEqual(commit.group(1), f"{seed:08x}"[:7])
        out, _ = self.call(0, "run", "--random", "1", "--seed", "5", "--kernel", "topk.block", "--wave", "64")
        self.assertTrue(out.startswith("seed 5 (given)"), out)

    def test_a_shard_is_checked(self):
        for bad in ("3/3", "1", "a/b", "-1/2", "1/2x", "1/0"):
            self.refused(2, ["--shard", "write for example 0/4"], "run", TAIL, "--shard", bad)
        self.refused(3, ["no case is left for --shard 1/2"], "run", TAIL, "--shard", "1/2")

    def test_replay_runs_what_came_before_in_the_same_process(self):
        out, _ = self.call(0, "replay", TAIL, "--kernel", "topk.block", "--wave", "64", "--after",
                           "topk.split_merge wave=32 topk.decode rows=2 width=64 k=8", "--after", "swa.rows wave=64 index.swa")
        first, second, third = out.splitlines()[:3]
        self.assertEqual("after   topk.split_merge wave=32 topk.decode rows=2 width=64 k=8: passed", first)
        self.assertEqual("after   swa.rows wave=64 index.swa: passed", second)
        self.assertTrue(third.startswith("PASSED  topk.block"), third)
        self.assertTrue(out.splitlines()[-1].startswith("passed 1,"), out)
        for bad in ("topk.block", "topk.block wave=16 index.swa", "topk.block wave=64 index.swa", "topk.block wave=64 nonsense"):
            self.refused(2, ["--after"], "replay", TAIL, "--kernel", "topk.block", "--after", bad)

    def test_a_failure_becomes_a_numbered_regression_once(self):
        os.mkdir(self.path("regressions"))
        add = ("replay", TAIL, "--kernel", "mutant.tail_not_written", "--wave", "64", "--regressions", self.path("regressions"),
               "--add-regression")
        out, _ = self.call(1, *add, "tail-kept")
        self.assertIn("added   " + self.path("regressions/0001-tail-kept.cases"), out)
        with open(self.path("regressions/0001-tail-kept.cases"), encoding="utf-8") as file:
            comment, case = file.read().splitlines()
        self.assertEqual(TAIL, case)
        self.assertTrue(comment.startswith("# mutant.tail_not_written on host, wave 64, commit "), comment)
        self.assertIn("the tail is not written", comment)
        self.refused(2, ["0001-tail-kept.cases already"], *add, "again")
        self.refused(2, ["small letters"], *add, "../up")
        self.call(0, "replay", TAIL + " seed=2", "--kernel", "topk.block", "--regressions", self.path("regressions"),
                  "--add-regression", "second")
        with open(self.path("all.cases"), "w", encoding="utf-8") as file:
            file.write("include regressions/*.cases\n")
        self.assertEqual([TAIL, TAIL + " seed=2"], self.call(0, "list", "cases", self.path("all.cases"))[0].splitlines())
        self.refused(2, ["no folder"], *add[:-2], "/no/such", "--add-regression", "x")

    def test_every_tier_begins_with_the_regressions(self):
        corpus = os.path.join(SOURCE, "fixtures/cases/regressions")
        kept = []
        for name in sorted(os.listdir(corpus)):
            kept += self.call(0, "list", "cases", os.path.join(corpus, name))[0].splitlines()
        self.assertTrue(kept)
        for tier in ("smoke", "ci", "nightly", "published"):
            listed = self.call(0, "list", "cases", os.path.join(SOURCE, f"fixtures/cases/{tier}.cases"))[0].splitlines()
            self.assertEqual(kept, listed[: len(kept)], tier)


if __name__ == "__main__":
    main()
