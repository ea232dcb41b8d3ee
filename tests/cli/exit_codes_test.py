"""Bad input gets one clear sentence and the documented exit code."""

import os
import tempfile

from tool import SOURCE, ToolTest, main

GOOD = "topk.decode rows=2 width=64 k=8 lens=const:64"


class ExitCodes(ToolTest):
    def test_a_passing_case_exits_0(self):
        out, _ = self.call(0, "run", GOOD, "--kernel", "topk.block")
        self.assertEqual("passed 2, failed 0, weak 0, skipped 0, unsupported 0, invalid 0", out.splitlines()[-1])

    def test_a_malformed_line_exits_2(self):
        for line, words in {
            "topk.decode rows": ["rows"],
            "topk.decod rows=2": ["topk.decod", "topk.decode"],
            "topk.decode rowz=2": ["rowz", "rows"],
            "topk.decode pattern=unifrom": ["unifrom", "uniform"],
            "topk.decode k=0": ["k=0"],
            "topk.decode rows=0": ["rows=0"],
            "topk.decode rows=-3": ["rows=-3"],
            "topk.decode rows=two": ["two"],
            "topk.decode width=99999999999999999999": ["99999999999999999999"],
            "topk.decode k=8 k=9": ["k"],
            "topk.decode v=2": ["2"],
        }.items():
            self.refused(2, words, "run", line)
            self.refused(2, words, "replay", line)

    def test_a_missing_or_broken_case_file_exits_2(self):
        self.refused(2, ["no/such.cases"], "run", "--cases", "no/such.cases")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "broken.cases")
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"# fine\n{GOOD}\ntopk.decode rows={{1,2\n")
            self.refused(2, ["broken.cases:3"], "run", "--cases", path)

    def test_an_empty_case_file_exits_3(self):
        with tempfile.NamedTemporaryFile("w", suffix=".cases") as file:
            file.write("# nothing\n")
            file.flush()
            self.refused(3, ["no case"], "run", "--cases", file.name)

    def test_an_unknown_kernel_exits_2_and_a_glob_without_match_3(self):
        self.refused(2, ["topk.blok"], "run", GOOD, "--kernel", "topk.blok")
        self.refused(3, ["sort.*"], "run", GOOD, "--kernel", "sort.*")

    def test_a_filter_that_matches_nothing_exits_3(self):
        smoke = os.path.join(SOURCE, "fixtures/cases/smoke.cases")
        self.refused(3, ["no_such_pattern"], "run", "--cases", smoke, "--filter", "*no_such_pattern*")

    def test_an_absent_device_exits_4(self):
        self.refused(4, ["warp9"], "run", GOOD, "--device", "warp9")
        self.refused(4, ["hip"], "run", GOOD, "--device", "hip")
        self.refused(4, ["host:7"], "run", GOOD, "--device", "host:7")

    def test_unknown_options_and_commands_exit_2(self):
        self.refused(2, ["--frobnicate"], "run", GOOD, "--frobnicate")
        self.refused(2, [], "judge", GOOD)
        self.refused(2, [], "run", GOOD, "--wave", "48")
        self.refused(2, ["nothing to run"], "run")

    def test_numbers_out_of_range_and_unwritable_reports_exit_2_before_anything_runs(self):
        for option, value in {"--random": "-3", "--budget": "x", "--seed": "-1", "--timeout": "0"}.items():
            self.refused(2, [option, f"'{value}'"], "run", GOOD, option, value)
        self.refused(2, ["/no/such/folder/x.json"], "run", GOOD, "--json", "/no/such/folder/x.json")

    def test_a_width_beyond_memory_is_skipped_with_both_numbers_and_exits_3(self):
        out, errors = self.call(3, "run", "topk.decode rows=512 width=2000000000 lens=const:10", "--kernel", "topk.block")
        self.assertIn("GiB free", out)
        self.assertIn("nothing was judged", errors)

    def test_only_declined_cases_exit_3_with_the_reason(self):
        out, errors = self.call(3, "run", GOOD, "--kernel", "topk.k512")
        self.assertIn("topk.k512", out)
        self.assertIn("nothing was judged", errors)

    def test_a_weak_case_exits_3_unless_allowed(self):
        weak = "topk.decode rows=2 width=64 k=8 lens=const:0"
        self.call(3, "run", weak, "--kernel", "topk.block")
        self.call(0, "run", weak, "--kernel", "topk.block", "--allow-weak")

    def test_a_budget_that_ends_before_the_listed_cases_exits_5(self):
        self.call(5, "run", "topk.decode rows={1,2,3,4,5,6,7,8} width={64,65,66,67,68,69} k=8", "--budget", "0.001")

    def test_a_budget_that_ends_random_cases_exits_0(self):
        self.call(0, "run", "--random", "100000", "--budget", "2", "--kernel", "topk.block")


if __name__ == "__main__":
    main()
