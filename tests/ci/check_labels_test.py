"""ci/check_labels must find every ctest entry that has no tier label or two. With --build FOLDER it also judges the
real entries of that build folder."""

import json
import subprocess
import sys
import unittest

import scratch

REAL = {"build": "", "ctest": "ctest"}


def entry(name, *labels):
    properties = [{"name": "TIMEOUT", "value": 300.0}]
    if labels:
        properties.append({"name": "LABELS", "value": list(labels)})
    return {"name": name, "backtrace": 0, "properties": properties}


def check(*tests):
    graph = {"files": ["/src/tests/CMakeLists.txt"], "nodes": [{"file": 0, "line": 7}]}
    return run(json.dumps({"kind": "ctestInfo", "backtraceGraph": graph, "tests": tests}))


def run(text):
    return subprocess.run([str(scratch.CI / "check_labels")], input=text, capture_output=True, text=True, check=False)


class CheckLabels(unittest.TestCase):
    def refuses(self, got, text):
        found = scratch.errors_of(got.stdout)
        self.assertEqual((1, 1), (got.returncode, len(found)), got.stdout + got.stderr)
        self.assertTrue(found[0].startswith("/src/tests/CMakeLists.txt:7: error: "), found[0])
        self.assertIn(text, found[0])

    def test_passes_tests_with_one_tier_label_each(self):
        got = check(entry("a", "quick"), entry("b", "gpu", "full"))
        self.assertEqual((0, "labels: 2 tests, 0 errors\n"), (got.returncode, got.stdout))

    def test_refuses_a_test_without_labels(self):
        self.refuses(check(entry("a", "quick"), entry("b")), "test b has no tier label")

    def test_refuses_a_test_whose_only_label_is_no_tier(self):
        self.refuses(check(entry("a", "gpu")), "test a has no tier label")

    def test_refuses_a_test_with_two_tier_labels(self):
        self.refuses(check(entry("a", "standard", "quick")), "tier labels standard and quick")

    def test_refuses_an_empty_list_of_tests(self):
        got = check()
        self.assertEqual(1, got.returncode)
        self.assertIn("no test", got.stderr)


class RealEntries(unittest.TestCase):
    def test_carry_exactly_one_tier_label(self):
        if not REAL["build"]:
            self.skipTest("no --build FOLDER given")
        listing = subprocess.run([REAL["ctest"], "--test-dir", REAL["build"], "--show-only=json-v1"],
                                 env=scratch.clean_environment(), capture_output=True, text=True, check=True)
        got = run(listing.stdout)
        self.assertEqual(0, got.returncode, got.stdout + got.stderr)


if __name__ == "__main__":
    if "--build" in sys.argv:
        at = sys.argv.index("--build")
        REAL["build"], REAL["ctest"] = sys.argv[at + 1:at + 3]
        del sys.argv[at:at + 3]
    unittest.main()
