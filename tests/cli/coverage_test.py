"""Tiers of stored cases require bins of the input space: one that is not visited fails the tier."""

import json
import os
import tempfile

from tool import SOURCE, ToolTest, main

SMOKE = os.path.join(SOURCE, "fixtures/cases/smoke.cases")
WAVE = ("--wave", "64", "--failures", "none")
# One kernel of each operation, which takes every case.
ONE_OF_EACH = ("--kernel", "topk.auto,topk.prefill_block,combine.fused,translate.rows,swa.rows,chain.decode_auto,"
               "chain.prefill_block,mqa.tiles,mqa.paged_tiles,attention.prefill_tiles,attention.decode_split,router.wave,"
               "step.auto")


class Coverage(ToolTest):
    def smoke_lines(self):
        out, _ = self.call(0, "list", "cases", SMOKE)
        return out.splitlines()

    def run_lines(self, code, lines, *arguments):
        with tempfile.NamedTemporaryFile("w", suffix=".cases") as file:
            file.write("\n".join(lines) + "\n")
            file.flush()
            return self.call(code, "run", "--cases", file.name, *WAVE, *arguments)

    def test_the_smoke_cases_pass_their_tier_and_without_one_they_fail_it(self):
        lines = self.smoke_lines()
        out, _ = self.run_lines(0, lines, "--require", "smoke", *ONE_OF_EACH)
        self.assertIn("weak 0", out.splitlines()[-1])
        gate = [line for line in lines if "rows=385 " in line]
        self.assertEqual(1, len(gate))
        rest = [line for line in lines if line not in gate]
        _, errors = self.run_lines(3, rest, "--require", "smoke", *ONE_OF_EACH)
        self.assertIn("tier smoke requires", errors)
        self.assertIn("'topk.decode | rows | k512 auto 384 +1'", errors)
        self.assertNotIn("384 0", errors)

    def test_a_weak_case_fails_the_tier_and_can_not_be_allowed(self):
        weak = "index.translate requests=2 context=100 lens=const:0"
        _, errors = self.run_lines(3, self.smoke_lines() + [weak], "--require", "smoke", *ONE_OF_EACH)
        self.assertIn("weak", errors)
        self.refused(2, ["--require", "--allow-weak"], "run", weak, "--require", "smoke", "--allow-weak")

    def test_only_judged_runs_visit_bins(self):
        line = "topk.decode rows=2 width=900 k=16 lens=const:900"
        out, _ = self.call(3, "run", line, "--kernel", "topk.k512", "--coverage", *WAVE)  # declines
        self.assertNotIn("block_insertion", out)
        out, _ = self.call(0, "run", line, "--kernel", "topk.block", "--coverage", *WAVE)
        self.assertRegex(out, r"topk.decode +dispatch +auto block_insertion x1 +1\n")

    def test_the_table_and_the_report_say_what_is_required_and_missing(self):
        line = "topk.decode rows=385 width=600 lens=ragged:500:600 tune=policy_shift:9"
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            out, errors = self.call(3, "run", line, "--kernel", "topk.auto", "--coverage", "--require", "smoke",
                                    "--json", path, *WAVE)
            with open(path, encoding="utf-8") as file:
                bins = json.load(file)["bins"]
        self.assertRegex(out, r"rows +k512 auto 384 \+1 +1  required")
        self.assertRegex(out, r"rows +k512 auto 384 0 +0  MISSING")
        self.assertIn("is visited by: topk.decode ", errors)
        self.assertIn({"operation": "topk.decode", "axis": "rows", "bin": "k512 auto 384 +1", "runs": 1, "required": True},
                      bins)
        self.assertIn({"operation": "index.swa", "axis": "table", "bin": "far", "runs": 0, "required": True}, bins)

    def test_an_unknown_tier_exits_2(self):
        self.refused(2, ["smok", "smoke"], "run", "topk.decode", "--require", "smok")


if __name__ == "__main__":
    main()
