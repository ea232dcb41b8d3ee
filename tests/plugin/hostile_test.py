"""Whatever a plugin does wrong is one clear verdict, and what else was asked for is judged all the same."""

import os
import re
import shlex
import shutil
import tempfile

from plugins import GOOD, SOURCE, PluginTest, main, plugin

CASE = "topk.decode rows=4 width=64 k=16 lens=list:5:16:40:64"
BAD_LOAD = plugin("exactk_test_bad_load")
BAD_KERNELS = plugin("exactk_test_bad_kernels")

# What EXACTK_TEST_FAULT makes of bad_load, and the sentence about it.
LOAD_FAULTS = {
    "constructor_throws": "its process ended by signal 6 (Aborted) while it was loaded",
    "constructor_throws_a_number": "its process ended by signal 6 (Aborted) while it was loaded",
    "constructor_crashes": "its process ended by signal 11 (Segmentation fault) while it was loaded",
    "constructor_exits": "its process ended with exit code 0 while it was loaded",
    "constructor_hangs": "it gave no sign of life for 2 seconds while it was loaded",
    "entry_throws": "it threw an exception in exactk_plugin_v1(): no luck",
    "entry_throws_a_number": "it threw an exception in exactk_plugin_v1()",
    "entry_crashes": "its process ended by signal 11 (Segmentation fault) while it was loaded",
    "entry_exits": "its process ended with exit code 0 while it was loaded",
    "entry_hangs": "it gave no sign of life for 2 seconds while it was loaded",
    "version": "it is of version 2 of the plugin interface, and this program takes version 1",
    "version_zero": "it leaves abi_version 0",
    "plugin_size": "its exactk_plugin has struct_size 12, and version 1 has 48",
    "plugin_name": "it has no name",
    "kernels_null": "its list of kernels is null",
    "kernels_none": "it registers 0 kernels",
    "kernel_null": "its kernel 1 is null",
    "kernel_size": "has struct_size 8, and version 1 has 104",
    "name_null": "its kernel 0 has no name",
    "name_empty": "its kernel 0 has no name",
    "name_blank": "the name 'two words' of a kernel holds more than letters",
    "name_built_in": "the name topk.block of a kernel is taken by a built-in one",
    "name_mutant": "the name mutant.mine of a kernel is taken by the planted faults",
    "name_twice": "the name load.topk of a kernel is taken by another one of its own",
    "op_null": "op of kernel load.topk is null",
    "description_null": "description of kernel load.topk is null",
    "supports_null": "supports of kernel load.topk is null",
    "workspace_null": "workspace_bytes of kernel load.topk is null",
    "launch_null": "launch of kernel load.topk is null",
    "modes_unknown": "kernel load.topk promises unknown modes 0x4000; known are 0x7f",
    "modes_contradict": "kernel load.topk promises both ordered, by logits, and stable, by indices",
    "mode_absolute": "kernel load.topk promises absolute indices, which only topk.prefill has",
    "mode_of_index": "kernel load.topk promises an order of slots, and index.swa fixes every element",
    "nan_policy": "kernel load.topk has the unknown NaN policy 5",
    "limit_negative": "kernel load.topk limits k to -1",
    "limit_unknown": "kernel load.topk limits next_n, which topk.prefill does not have",
    "declines": "exactk_plugin_v1() declines this device, without a reason",
    "reports_an_error": "exactk_plugin_v1() reports an error: it needs a licence",
}

# Of bad_kernels: the launch mode in which it shows, the verdict, and the sentence.
KERNEL_FAULTS = {
    "bad.past_the_end": ("direct", "failed", "4 guard bytes around indices were written"),
    "bad.changes_its_input": ("direct", "failed", "the logits, an input, were changed by the launch"),
    "bad.never_returns": ("direct", "failed", "no answer for 2 seconds"),
    "bad.crashes": ("direct", "failed", "ended by signal 11 (Segmentation fault) in the middle of the case"),
    "bad.exits": ("direct", "failed", "ended with exit code 0 in the middle of the case"),
    "bad.throws": ("direct", "failed", "the launch threw an exception: no luck"),
    "bad.throws_on_the_stream": ("stream", "failed", "a host function threw an exception"),
    "bad.at_once": ("graph", "failed", "the captured graph is empty: the launch did its work at once"),
    "bad.keeps_the_descriptor": ("stream", "failed", ""),
    "bad.not_stable": ("direct", "failed", "its order is not the promised one"),
    "bad.not_ordered": ("direct", "failed", "its order is not the promised one"),
    "bad.not_prefix": ("direct", "failed", "2 bad slots"),
    "bad.not_repeatable": ("direct", "failed", ""),
    "bad.declines_silently": ("direct", "unsupported", "the kernel declines the case without a reason"),
    "bad.endless_message": ("direct", "skipped", "xxx"),
    "bad.throws_when_asked": ("direct", "failed", "supports() threw an exception: no luck"),
    "bad.negative_workspace": ("direct", "failed", "workspace_bytes() asks for -5 bytes"),
    "bad.huge_workspace": ("direct", "failed", "workspace_bytes() asks for 9223372036854775807 bytes"),
    "bad.limit_k": ("direct", "skipped", "takes k up to 7; got 16"),
    "bad.limit_rows": ("direct", "skipped", "takes rows up to 1; got 4"),
}


class Hostile(PluginTest):
    def tearDown(self):
        os.environ.pop("EXACTK_TEST_FAULT", None)

    def refused_beside_a_good_one(self, path, sentence):
        out, runs = self.runs(1, CASE, "--plugin", path, "--plugin", GOOD, "--timeout", "2")
        verdict = self.one(runs, plugin=path)
        self.assertEqual(("failed", "", ""), (verdict["verdict"], verdict["kernel"], verdict["case"]))
        self.assertIn(sentence, verdict["reason"])
        self.assertEqual(1, out.count("FAILED"), out)
        self.assertIn(f"FAILED  plugin {path}  host\nwhy     {verdict['reason']}\n", out)
        self.assertEqual("passed", self.one(runs, kernel="good.topk", plugin=GOOD)["verdict"])
        self.assertEqual("passed 1, failed 1, weak 0, skipped 0, unsupported 0, invalid 0", out.splitlines()[-1])
        return out

    def test_every_fault_of_loading_is_one_verdict(self):
        for fault, sentence in LOAD_FAULTS.items():
            with self.subTest(fault):
                os.environ["EXACTK_TEST_FAULT"] = fault
                self.refused_beside_a_good_one(BAD_LOAD, sentence)

    def test_the_same_plugin_is_right_without_a_fault(self):
        out, runs = self.runs(0, CASE, "--plugin", BAD_LOAD, "--plugin", GOOD)
        self.assertEqual(["load.topk", "load.second", "good.topk"], [run["kernel"] for run in runs])
        self.assertTrue(out.splitlines()[-1].startswith("passed 3, failed 0,"), out)

    def test_what_is_no_plugin_is_refused(self):
        self.refused_beside_a_good_one(os.path.join(SOURCE, "README.md"), "invalid ELF header")
        self.refused_beside_a_good_one(plugin("exactk_test_no_symbol"), "it does not export exactk_plugin_v1")
        self.refused_beside_a_good_one(plugin("exactk_test_later_version"), LOAD_FAULTS["version"])

    def test_of_two_plugins_with_the_same_kernel_the_second_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            again = shutil.copy(GOOD, folder)
            _, runs = self.runs(1, CASE, "--plugin", GOOD, "--plugin", again)
            reason = self.one(runs, plugin=again)["reason"]
            self.assertEqual(f"the name good.topk of a kernel is taken by one of {GOOD}", reason)
            self.assertEqual("passed", self.one(runs, plugin=GOOD)["verdict"])

    def test_what_a_kernel_prints_is_no_part_of_the_report(self):
        out, _ = self.runs(0, CASE, "--plugin", BAD_KERNELS, "--kernel", "bad.prints")
        self.assertEqual("passed 1, failed 0, weak 0, skipped 0, unsupported 0, invalid 0\n", out)

    def test_a_path_that_is_not_there_is_a_usage_error(self):
        self.refused(2, ["--plugin", "no_such.so"], "run", CASE, "--plugin", "no_such.so")

    def test_the_replay_line_of_a_refusal_fails_again(self):
        path = plugin("exactk_test_no_symbol")
        out = self.refused_beside_a_good_one(path, "")
        line = re.search(r"^replay  exactk (.*)$", out, re.MULTILINE).group(1)
        again, _ = self.call(1, *shlex.split(line))
        self.assertIn("it does not export exactk_plugin_v1", again)

    def test_a_refused_plugin_fails_every_command_and_in_the_process_too(self):
        os.environ["EXACTK_TEST_FAULT"] = "entry_throws"
        for arguments in (["run", CASE], ["run", CASE, "--in-process"], ["replay", CASE], ["shrink", CASE],
                          ["bench", CASE], ["list", "kernels"]):
            with self.subTest(arguments):
                out, _ = self.call(1, *arguments, "--plugin", BAD_LOAD, "--plugin", GOOD)
                self.assertIn(f"FAILED  plugin {BAD_LOAD}", out)
        os.environ["EXACTK_TEST_FAULT"] = "entry_crashes"
        out, _ = self.call(1, "run", CASE, "--plugin", BAD_LOAD, "--kernel", "load.topk,topk.block", "--wave", "64")
        self.assertIn("passed 1, failed 1,", out.splitlines()[-1])

    def test_a_kernel_of_an_unknown_operation_is_refused_alone(self):
        os.environ["EXACTK_TEST_FAULT"] = "op_unknown"
        _, runs = self.runs(1, CASE, "--plugin", BAD_LOAD)
        refused = self.one(runs, kernel="load.topk")
        self.assertEqual("failed", refused["verdict"])
        self.assertIn("this version knows no operation 'router.topk'", refused["reason"])
        self.assertEqual("passed", self.one(runs, kernel="load.second")["verdict"])
        self.runs(0, CASE, "--plugin", BAD_LOAD, "--kernel", "load.second")

    def test_every_fault_of_a_kernel_is_its_own_verdict(self):
        for mode in ("direct", "stream", "graph"):
            kernels = [name for name, fault in KERNEL_FAULTS.items() if fault[0] == mode]
            _, runs = self.runs(
                1, f"{CASE} launch={mode} repeats=2", "--plugin", BAD_KERNELS, "--plugin", GOOD, "--timeout", "2",
                "--kernel", ",".join([*kernels, "bad.not_at_all", "good.topk", "topk.block"]))
            for name in kernels:
                with self.subTest(name):
                    _, verdict, sentence = KERNEL_FAULTS[name]
                    run = self.one(runs, kernel=name)
                    self.assertEqual(verdict, run["verdict"], run)
                    self.assertIn(sentence, run["reason"])
                    self.assertNotEqual("", run["reason"])
            for name in ("bad.not_at_all", "good.topk", "topk.block"):
                self.assertEqual("passed", self.one(runs, kernel=name)["verdict"])

    def test_every_kernel_of_the_bad_plugin_has_its_line_here(self):
        out, _ = self.call(0, "list", "kernels", "--plugin", BAD_KERNELS)
        listed = {line.split()[0] for line in out.splitlines()}
        self.assertEqual({*KERNEL_FAULTS, "bad.not_at_all", "bad.no_nan", "bad.prints"}, listed)

    def test_nan_that_a_kernel_does_not_take_is_skipped_and_the_rest_is_judged(self):
        _, runs = self.runs(
            0, f"{CASE} pattern=normal tail=nan", f"{CASE} pattern=nan_inf:500",
            "topk.decode rows=4 width=64 k=16 lens=const:0 replays=1 replay_lens=list:64 set=2:60:0xffc00000",
            "--plugin", BAD_KERNELS, "--kernel", "bad.no_nan")
        self.assertEqual(["passed", "skipped", "skipped"], [run["verdict"] for run in runs])
        self.assertEqual("takes no NaN among the logits in view; got some", runs[1]["reason"])

    def test_the_replay_line_of_a_failure_names_the_plugin_and_fails_again(self):
        out, _ = self.runs(1, CASE, "--plugin", BAD_KERNELS, "--kernel", "bad.past_the_end")
        line = re.search(r"^replay  exactk (.*)$", out, re.MULTILINE).group(1)
        self.assertIn(f"--plugin {BAD_KERNELS}", line)
        again, _ = self.call(1, *shlex.split(line))
        self.assertIn("guard bytes around indices", again)


if __name__ == "__main__":
    main()
