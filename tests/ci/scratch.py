"""Small trees in a temporary folder, in which the scripts of ci/ are run."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CI = ROOT / "ci"


def clean_environment(**more):
    """The environment without what would point git, ctest or ci/ elsewhere."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "CTEST_", "EXACTK_"))}
    return {**kept, "LC_ALL": "C.UTF-8", **more}


class ScratchCase(unittest.TestCase):
    """A test with an empty git repository at self.root that goes away afterwards."""

    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve() / "tree"
        self.root.mkdir()
        self.command("git", "init", "-q")

    def write(self, name, text, executable=False):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755 if executable else 0o644)

    def copy(self, name):
        """Copies a file of the project to the same place in the tree."""
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, self.root / name)

    def command(self, *words, **environment):
        """Runs a command from the tree's parent folder's point of view: nothing may depend on the current folder."""
        return subprocess.run([str(word) for word in words], cwd=self.root, env=clean_environment(**environment),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    def commit(self):
        self.command("git", "add", "--all")
        made = self.command("git", "-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "-q", "-m", "x")
        self.assertEqual(0, made.returncode, made.stderr)
        return self.command("git", "rev-parse", "HEAD").stdout.strip()


class CheckerCase(ScratchCase):
    """Tests of one checker: it passes the clean tree, and names file and line of one planted error and nothing else."""

    checker = ""

    def passes(self):
        got = self.command(CI / self.checker, self.root)
        self.assertEqual((0, ""), (got.returncode, "".join(errors_of(got.stdout)) + got.stderr), got.stdout)

    def refuses(self, name, line, *parts):
        got = self.command(CI / self.checker, self.root)
        found = errors_of(got.stdout)
        self.assertEqual((1, 1), (got.returncode, len(found)), got.stdout + got.stderr)
        self.assertTrue(found[0].startswith(f"{name}:{line}: error: "), found[0])
        for part in ("use ", *parts):
            self.assertIn(part, found[0])


def errors_of(output):
    return [line for line in output.splitlines() if ": error: " in line]
