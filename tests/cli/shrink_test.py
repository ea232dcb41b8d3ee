"""A failing line becomes a short one that fails for the same reason."""

import re
import shlex

from tool import ToolTest, main

BIG = "topk.decode rows=12 next_n=3 width=1024 lens=ragged tail=nan launch=graph replays=2 pattern=normal seed=77 schedule=5"
MUTANT = "mutant.tail_not_written"
TOTALS = "passed 0, failed 1, weak 0, skipped 0, unsupported 0, invalid 0"


class Shrink(ToolTest):
    def test_a_failing_line_becomes_small_and_its_replay_fails_for_the_same_reason(self):
        out, _ = self.call(1, "shrink", BIG, "--kernel", MUTANT, "--wave", "64")
        lines = out.splitlines()
        self.assertEqual(f"FAILED  {MUTANT}  host wave=64", lines[0].split("  contract")[0])
        self.assertEqual(TOTALS, lines[-1])
        original = re.search(r"^original  (.*)$", out, re.MULTILINE).group(1)
        smallest = re.search(r"^smallest  (.*)$", out, re.MULTILINE).group(1)
        self.assertTrue(original.startswith("topk.decode rows=12 "))
        self.assertEqual("topk.decode rows=1 width=1 k=1 lens=const:0", smallest)
        self.assertRegex(lines[-2], r"^shrunk    \d+ executions, minimal; deterministic: fails 5 of 5$")
        replay = re.search(r"^replay  exactk (replay .*)$", out, re.MULTILINE).group(1)
        self.assertIn(smallest, replay)
        again, _ = self.call(1, *shlex.split(replay))
        self.assertIn("the tail is not written", again)

    def test_a_budget_that_ends_is_said(self):
        out, _ = self.call(1, "shrink", BIG, "--kernel", MUTANT, "--wave", "64", "--executions", "8")
        self.assertRegex(out, r"shrunk    \d executions, not minimal: the budget ended after \d executions; deterministic")

    def test_of_several_kernels_and_waves_the_first_that_fails_is_shrunk(self):
        out, _ = self.call(1, "shrink", BIG, "--kernel", f"topk.block,{MUTANT}")
        self.assertEqual(1, out.count("smallest  "))
        self.assertIn("wave=32", out)
        self.assertEqual(TOTALS.replace("passed 0", "passed 1"), out.splitlines()[-1])

    def test_a_passing_line_has_nothing_to_shrink_and_exits_0(self):
        out, _ = self.call(0, "shrink", "topk.decode rows=2 width=64 k=8", "--kernel", "topk.block")
        self.assertIn("there is nothing to shrink", out)

    def test_bad_input_and_nothing_judged_have_the_codes_of_replay(self):
        self.refused(2, ["rowz"], "shrink", "topk.decode rowz=2")
        self.refused(2, ["--budget", "'0'"], "shrink", BIG, "--budget", "0")
        self.refused(3, ["nothing was judged"], "shrink", BIG, "--kernel", "swa.rows")
        self.refused(4, ["warp9"], "shrink", BIG, "--device", "warp9")


if __name__ == "__main__":
    main()
