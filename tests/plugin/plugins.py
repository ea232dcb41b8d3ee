"""What the tests of plugins share: where the plugins lie, and the runs of a report."""

import json
import os
import sys
import tempfile

from tool import SOURCE, ToolTest, main  # noqa: F401

FOLDER = sys.argv[3]
SMOKE = os.path.join(SOURCE, "fixtures/cases/smoke.cases")


def plugin(name):
    return os.path.join(FOLDER, name + ".so")


GOOD = plugin("exactk_test_good")


class PluginTest(ToolTest):
    def runs(self, code, *arguments):
        """Runs cases on one wave width, and gives stdout and the runs of the report."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            out, _ = self.call(code, "run", *arguments, "--wave", "64", "--json", path)
            with open(path, encoding="utf-8") as file:
                return out, json.load(file)["runs"]

    def one(self, runs, **wanted):
        """The one run with these values."""
        found = [run for run in runs if all(run[key] == value for key, value in wanted.items())]
        self.assertEqual(1, len(found), (wanted, runs))
        return found[0]
