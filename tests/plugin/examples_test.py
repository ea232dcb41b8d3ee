"""The examples pass the small cases of their operations, and the wrong one fails with a diagnosis that helps."""

import re
import shlex
import tempfile

from plugins import GOOD, SMOKE, PluginTest, main, plugin

WRONG = plugin("exactk_example_wrong_c")


class Examples(PluginTest):
    def passes(self, name, kernels, operation, skipped=False):
        out, _ = self.call(0, "run", "--cases", SMOKE, "--filter", operation, "--plugin", plugin(name), "--summary",
                           "--wave", "64")
        totals = out.splitlines()[-1]
        self.assertIn(" failed 0, weak 0,", totals)
        self.assertGreater(int(totals.split()[1].rstrip(",")), 50, totals)
        self.assertEqual(skipped, " skipped 0," not in totals)
        for kernel in kernels:
            self.assertIn(kernel, out)
        for mode in ("direct", "graph"):
            self.assertRegex(out, rf"launch .*{mode} \d")
        return out

    def test_the_one_in_c(self):
        self.passes("exactk_example_c", ["example.c_sort"], "topk.decode*")

    def test_the_one_around_a_std_algorithm(self):
        self.passes("exactk_example_std", ["example.std_decode", "example.std_prefill"], "topk.*")

    def test_the_one_in_hip_on_the_host_device(self):
        out = self.passes("exactk_example_hip_host", ["example.hip_rank"], "topk.decode*", skipped=True)
        self.assertIn("example.hip_rank: takes a width up to 2048", out)

    def test_strides_next_n_and_both_shapes_of_lengths(self):
        cases = [f"topk.decode rows=12 next_n={next_n} lens_dim={dim} width=300 k=20 row_stride=1000 column_stride=3 "
                 f"out_stride=23 misalign=1 lens=edges pattern=boundary_ties:30 launch=graph replays=3"
                 for next_n in (1, 4) for dim in (1, 2)]
        names = ("exactk_example_c", "exactk_example_std", "exactk_example_hip_host")
        arguments = [word for name in names for word in ("--plugin", plugin(name))]
        out, runs = self.runs(0, *cases, *arguments)
        self.assertEqual(12, len(runs))
        self.assertTrue(all(run["verdict"] == "passed" and run["graph"].startswith("1 kernels") for run in runs), out)

    def test_the_wrong_one_fails_with_a_diagnosis(self):
        out, runs = self.runs(
            1, "topk.decode rows=4 width=100 k=8 lens=list:6:8:20:100 row_stride=130 pattern=normal", "--plugin", WRONG)
        tail = self.one(runs, kernel="example.wrong_tail")
        self.assertEqual(
            "1 of 4 rows; only rows with length < k; bad positions are all >= length: the tail is not written",
            tail["reason"])
        stride = self.one(runs, kernel="example.wrong_stride")
        self.assertEqual("failed", stride["verdict"])
        self.assertNotIn(0, stride["failing_rows"])  # the only row that a wrong stride finds
        self.assertIn("(missing winner)", out)
        self.runs(0, "topk.decode rows=4 width=100 k=8 lens=const:100 pattern=normal", "--plugin", WRONG)

    def test_a_wrong_one_shrinks(self):
        case = "topk.decode rows=12 next_n=3 width=200 k=16 lens=ragged pattern=normal"
        out, _ = self.call(1, "shrink", case, "--plugin", WRONG, "--kernel", "example.wrong_tail", "--wave", "64")
        self.assertIn("smallest  topk.decode rows=1 width=1 k=1 lens=const:0", out)
        self.assertIn(f"--plugin {WRONG}", out)

    def test_plugins_are_judged_alone_unless_kernels_are_named(self):
        case = "topk.decode rows=2 width=64 k=8"
        arguments = ["--plugin", GOOD, "--plugin", plugin("exactk_example_c")]
        _, alone = self.runs(0, case, *arguments)
        self.assertEqual(["good.topk", "example.c_sort"], [run["kernel"] for run in alone])
        _, named = self.runs(0, case, *arguments, "--kernel", "good.*,topk.block")
        self.assertEqual(["good.topk", "topk.block"], [run["kernel"] for run in named])
        self.assertEqual([GOOD, ""], [run["plugin"] for run in named])
        _, everything = self.runs(0, case, *arguments, "--kernel", "*")
        self.assertIn("topk.auto", [run["kernel"] for run in everything])
        listed, _ = self.call(0, "list", "kernels", *arguments)
        self.assertEqual(["good.topk", "example.c_sort"], [line.split()[0] for line in listed.splitlines()])

    def test_bench_times_a_plugin_and_replay_dumps_it(self):
        case = "topk.decode rows=2 width=64 k=8 lens=const:64"
        hip, std = plugin("exactk_example_hip_host"), plugin("exactk_example_std")
        out, _ = self.call(0, "bench", case, "--plugin", hip, "--wave", "64", "--repeats", "1")
        self.assertIn("example.hip_rank host wave=64", out)
        with tempfile.TemporaryDirectory() as folder:
            out, _ = self.call(0, "replay", case, "--plugin", std, "--wave", "64", "--dump", folder)
            check = re.search(r"^check   exactk (.*)$", out, re.MULTILINE).group(1)
            self.assertTrue(check.endswith("--modes set,prefix,stable"), check)
            self.call(0, *shlex.split(check))

    def test_the_same_path_twice_is_one_plugin(self):
        _, runs = self.runs(0, "topk.decode rows=2 width=64 k=8", "--plugin", GOOD, "--plugin", GOOD)
        self.assertEqual(1, len(runs))


if __name__ == "__main__":
    main()
