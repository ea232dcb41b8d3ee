"""Recorded tensors are judged as the kernel that left them was."""

import array
import os
import re
import shlex
import tempfile

from npy import write_npy
from tool import ToolTest, main

DECODE = "topk.decode rows=6 next_n=3 width=300 k=16 lens=const:200 pattern=uniform seed=3"
PREFILL = "topk.prefill rows=5 width=300 k=16 lens=ragged:0:200 pattern=uniform seed=4"


def poke(path, slot, index):
    """Replaces one int32 of a .npy file."""
    with open(path, "r+b") as file:
        begin = 10 + int.from_bytes(file.read(10)[8:10], "little")
        file.seek(begin + 4 * slot)
        file.write(array.array("i", [index]).tobytes())


class Check(ToolTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def dumped(self, code, *replay):
        """Replays with a dump and gives (stdout, the arguments that check it)."""
        out, _ = self.call(code, "replay", *replay, "--wave", "64", "--dump", self.folder)
        return out, shlex.split(re.search(r"^check   exactk (.*)$", out, re.MULTILINE).group(1))

    def write_decode(self, rows=2, width=64, k=4):
        write_npy(self.path("logits.npy"), "<f4", (rows, width), array.array("f", [0.5] * rows * width).tobytes())
        write_npy(self.path("seq_lens.npy"), "<i4", (rows,), array.array("i", [width] * rows).tobytes())
        write_npy(self.path("indices.npy"), "<i4", (rows, k), array.array("i", list(range(k)) * rows).tobytes())
        return ["check", "--op", "topk.decode", "--logits", self.path("logits.npy"), "--seq-lens",
                self.path("seq_lens.npy"), "--indices", self.path("indices.npy")]

    def test_a_right_launch_that_was_dumped_is_right(self):
        for case, kernel, rows in ((DECODE, "topk.block", 6), (PREFILL, "topk.prefill_block", 5),
                                   (PREFILL, "topk.prefill_stable", 5),  # absolute indices
                                   (DECODE + " lens_dim=2 row_stride=640 out_stride=20 column_stride=2", "topk.block", 6)):
            _, check = self.dumped(0, case, "--kernel", kernel)
            out, _ = self.call(0, *check)
            self.assertTrue(out.startswith("PASSED  topk."), out)
            self.assertEqual(f"rows passed {rows}, failed 0", out.splitlines()[-1])
            with open(self.path("case.txt"), encoding="utf-8") as file:
                self.assertEqual(case.split()[0], file.read().split()[0])

    def test_a_planted_fault_that_was_dumped_fails_in_the_same_rows(self):
        listed, _ = self.call(0, "list", "mutants")
        for mutant in ("mutant.pad_beats_minus_inf", "mutant.tail_not_written", "mutant.draft_offset_forgotten",
                       "mutant.prefill_start_ignored", "mutant.prefill_row_skipped"):
            replayed, check = self.dumped(1, self.reaching_case(listed, mutant), "--kernel", mutant)
            out, _ = self.call(1, *check)
            rows = r"(?m)^row \d+ .*sentinels? expected|^why +\d+ of \d+ rows"
            self.assertGreater(len(re.findall(rows, replayed)), 1)
            self.assertEqual(re.findall(rows, replayed), re.findall(rows, out))
            self.assertRegex(out.splitlines()[-1], r"^rows passed \d+, failed [1-9]\d*$")

    def test_the_launch_that_failed_is_the_one_that_is_dumped(self):
        listed, _ = self.call(0, "list", "mutants")
        mutant = "mutant.split_frozen_at_capture"
        replayed, check = self.dumped(1, self.reaching_case(listed, mutant), "--kernel", mutant)
        self.assertIn("launch 2 of 2", replayed)
        out, _ = self.call(1, *check)
        self.assertRegex(out, r"(?m)^row 0 .*length 1000, k 512")

    def reaching_case(self, listed, mutant):
        return re.search(rf"^{mutant} .*\n +reached by: (.*)$", listed, re.MULTILINE).group(1)

    def test_one_changed_index_of_a_dump_fails(self):
        for case, kernel in ((DECODE, "topk.block"), (PREFILL, "topk.prefill_block")):
            _, check = self.dumped(0, case, "--kernel", kernel)
            poke(self.path("indices.npy"), 16, 299)
            out, _ = self.call(1, *check)
            self.assertRegex(out, r"(?m)^row 1 .*length \d+, k 16")
            self.assertRegex(out, r"(?m)^  pos 0 +BAD  index 299 .*out of range")
            self.assertRegex(out, r"(?m)^broke   contract set$")
            self.assertRegex(out, r"(?m)^why     1 of \d rows")
            self.assertRegex(out.splitlines()[-1], r"^rows passed \d, failed 1$")

    def test_only_what_is_promised_is_asked_of_the_order(self):
        check = self.write_decode()
        self.call(0, *check, "--modes", "stable,ordered")
        poke(self.path("indices.npy"), 0, 1)
        poke(self.path("indices.npy"), 1, 0)
        self.call(0, *check, "--modes", "prefix")
        out, _ = self.call(1, *check, "--modes", "stable")
        self.assertIn("broke   contract stable", out)

    def test_nothing_to_judge_exits_3(self):
        self.refused(3, ["no rows"], *self.write_decode(rows=0))
        self.refused(3, ["no rows, or none has a slot"], *self.write_decode(k=0))
        check = self.write_decode()
        write_npy(self.path("seq_lens.npy"), "<i4", (2,), bytes(8))
        write_npy(self.path("indices.npy"), "<i4", (2, 4), b"\xff" * 32)
        self.refused(3, ["every row is empty"], *check)

    def test_files_that_cannot_be_judged_exit_2(self):
        check = self.write_decode()
        self.refused(2, ["not a multiple of next_n 3"], *check, "--next-n", "3")
        self.refused(2, ["--bf16 is for uint16"], *check, "--bf16")
        os.truncate(self.path("indices.npy"), 150)
        self.refused(2, ["indices.npy: holds 22 bytes", "needs 32"], *check)
        os.remove(self.path("indices.npy"))
        self.refused(2, ["indices.npy: cannot be opened"], *check)

    def test_options_of_another_operation_exit_2(self):
        check = self.write_decode()
        self.refused(2, ["--absolute is for topk.prefill"], *check, "--absolute")
        self.refused(2, ["topk.decode takes --seq-lens"], *check, "--row-ends", "F.npy")
        self.refused(2, ["topk.decode takes --seq-lens"], *check[:5], *check[7:])
        self.refused(2, ["index.combine"], "check", "--op", "index.combine", *check[3:])
        self.refused(2, ["topk.prefill takes --row-starts"], "check", "--op", "topk.prefill", *check[3:])
        self.refused(2, ["--next-n is for topk.decode"], "check", "--op", "topk.prefill", *check[3:5], *check[7:],
                     "--row-starts", "S.npy", "--row-ends", "E.npy", "--next-n", "2")
        self.refused(2, ["sorted"], *check, "--modes", "sorted")
        self.refused(2, ["--next-n"], *check, "--next-n", "0")
        self.refused(2, ["--logits"], "check", "--op", "topk.decode")

    def test_a_dump_of_several_runs_or_of_another_operation_exits_2(self):
        self.refused(2, ["--dump holds one run", "--kernel", "--wave"], "replay", DECODE, "--dump", self.folder)
        self.refused(2, ["--dump is for topk"], "replay", "index.swa", "--dump", self.folder, "--kernel", "swa.rows",
                     "--wave", "64")
        blocked = self.path("file")
        with open(blocked, "w", encoding="utf-8"):
            pass
        _, errors = self.call(2, "replay", DECODE, "--kernel", "topk.block", "--wave", "64", "--dump", blocked)
        self.assertIn("cannot be made", errors)


if __name__ == "__main__":
    main()
