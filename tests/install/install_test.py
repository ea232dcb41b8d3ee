"""Installs the build under a prefix, moves the prefix, and uses what lies there: the package from a project of its own,
and the tool.

usage: install_test.py CMAKE BUILD_FOLDER CC CXX DEVICES
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CMAKE, BUILD, CC, CXX, DEVICES = sys.argv[1:6]
OUTSIDE = Path(__file__).resolve().parent / "outside"
CASE = "topk.decode rows=2 width=64 k=8 lens=const:6"


def call(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.root = Path(cls.folder.name).resolve()
        first = cls.root / "first"
        done = call(CMAKE, "--install", BUILD, "--prefix", first)
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        cls.prefix = cls.root / "moved" / "exactk"
        cls.prefix.parent.mkdir()
        shutil.move(first, cls.prefix)

    def succeeds(self, *words):
        done = call(*words)
        self.assertEqual(0, done.returncode, f"{words}\n{done.stdout}{done.stderr}")
        return done.stdout

    def configure(self, source, build):
        return call(CMAKE, "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_C_COMPILER={CC}",
                    f"-DCMAKE_CXX_COMPILER={CXX}")

    def test_a_project_outside_judges_answers_and_writes_a_kernel_with_the_package(self):
        build = self.root / "outside"
        done = self.configure(OUTSIDE, build)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.succeeds(CMAKE, "--build", build)
        out = self.succeeds(build / "outside_test")
        self.assertRegex(out, r"\[  PASSED  \] [1-9]\d* test")

    def test_another_version_is_refused_with_the_number_of_this_one(self):
        for version in "0.0", "0.2", "1.1":
            source = self.root / f"version_{version}"
            shutil.copytree(OUTSIDE, source)
            lists = source / "CMakeLists.txt"
            text = lists.read_text(encoding="utf-8")
            self.assertIn("find_package(exactk 0.1 ", text)
            text = text.replace("find_package(exactk 0.1 ", f"find_package(exactk {version} ")
            lists.write_text(text, encoding="utf-8")
            done = self.configure(source, source / "build")
            self.assertNotEqual(0, done.returncode, version)
            self.assertIn("version: 0.1.0", done.stderr)

    def test_no_installed_text_knows_where_it_was_built_or_first_installed(self):
        texts = [path for path in self.prefix.rglob("*") if path.suffix in (".cmake", ".h", ".cases")]
        self.assertGreater(len(texts), 10)
        for path in texts:
            text = path.read_text(encoding="utf-8")
            self.assertNotIn(BUILD, text, path)
            self.assertNotIn(str(self.root / "first"), text, path)

    def test_headers_include_each_other_by_their_installed_names(self):
        include = self.prefix / "include"
        self.assertEqual(["exactk"], os.listdir(include))
        quoted = 0
        for path in include.rglob("*.h"):
            for name in re.findall(r'^#include "(.*)"', path.read_text(encoding="utf-8"), re.MULTILINE):
                self.assertTrue((include / name).is_file(), f"{path} includes {name}")
                quoted += 1
        self.assertGreater(quoted, 0)

    @unittest.skipUnless("host" in DEVICES.split(";"), "the tool judges without a GPU only on the host device")
    def test_the_moved_tool_judges_with_its_own_libraries(self):
        tool = self.prefix / "bin" / "exactk"
        libraries = re.findall(r"(libexactk\w*\.so) => (\S+)", self.succeeds("ldd", tool))
        self.assertGreater(len(libraries), 0)
        for name, path in libraries:
            self.assertEqual(self.prefix, Path(os.path.normpath(path)).parents[2], name)
        out = self.succeeds(tool, "run", CASE, "--kernel", "topk.block", "--device", "host")
        self.assertEqual("passed 2,", out.splitlines()[-1][:9])
        smoke = self.prefix / "share" / "exactk" / "cases" / "smoke.cases"
        done = call(tool, "run", "--cases", smoke, "--kernel", "mutant.tail_not_written", "--wave", "64")
        self.assertEqual(1, done.returncode, done.stdout + done.stderr)
        self.assertIn("FAILED  mutant.tail_not_written", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
