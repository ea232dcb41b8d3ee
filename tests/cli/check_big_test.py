"""Twenty gigabytes of recorded logits are judged in little memory. The file is sparse: its logits are all 0."""

import os
import resource
import subprocess
import tempfile
import time
import unittest

from npy import write_npy
from tool import TOOL, main

ROWS, WIDTH, K = 20000, 262144, 512
MIB = 1 << 20
PEAK_MIB_MAX = 256  # code, a few 8 MiB pieces and a row for each thread, and the lengths


def forget(path):
    """Drops the file's pages from memory, so that reading begins anew."""
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


class CheckBig(unittest.TestCase):
    def test_a_file_larger_than_memory_may_be(self):
        with tempfile.TemporaryDirectory() as folder:
            logits, lengths, indices = (os.path.join(folder, name) for name in ("l.npy", "s.npy", "i.npy"))
            write_npy(logits, "<f4", (ROWS, WIDTH), b"")
            os.truncate(logits, 128 + 4 * ROWS * WIDTH)
            write_npy(lengths, "<i4", (ROWS,), WIDTH.to_bytes(4, "little") * ROWS)
            row = b"".join(column.to_bytes(4, "little") for column in range(K))
            write_npy(indices, "<i4", (ROWS, K), row * ROWS)
            read_s = self.seconds_to_read(logits)
            forget(logits)
            begin = time.monotonic()
            done = subprocess.run([TOOL, "check", "--op", "topk.decode", "--logits", logits, "--seq-lens", lengths,
                                   "--indices", indices], capture_output=True, text=True)
            check_s = time.monotonic() - begin
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertEqual(f"rows passed {ROWS}, failed 0", done.stdout.splitlines()[-1])
            peak_mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 // MIB
            print(f"{os.path.getsize(logits) / 1e9:.1f} GB: read {read_s:.1f} s, check {check_s:.1f} s, "
                  f"peak {peak_mib} MiB")
            self.assertLess(peak_mib, PEAK_MIB_MAX)

    def seconds_to_read(self, path):
        forget(path)
        begin = time.monotonic()
        piece = bytearray(16 * MIB)
        with open(path, "rb", buffering=0) as file:
            while file.readinto(piece):
                pass
        return time.monotonic() - begin


if __name__ == "__main__":
    main()
