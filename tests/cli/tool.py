"""Calls the tool and checks its exit code; shared by the tests of this folder."""

import subprocess
import sys
import unittest

TOOL, SOURCE = sys.argv[1], sys.argv[2]


class ToolTest(unittest.TestCase):
    def call(self, code, *arguments):
        """Runs the tool, expects the exit code, and gives (stdout, stderr)."""
        done = subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=250, stdin=subprocess.DEVNULL)
        self.assertEqual(code, done.returncode, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done.stdout, done.stderr

    def refused(self, code, words, *arguments):
        """Expects the exit code and one sentence on stderr that holds every one of `words`."""
        _, errors = self.call(code, *arguments)
        self.assertEqual(1, len(errors.splitlines()), errors)
        self.assertTrue(errors.startswith("exactk: "), errors)
        for word in words:
            self.assertIn(word, errors)


def main():
    unittest.main(argv=sys.argv[:1])
