"""Adding a kernel touches no file of the project: the plugin of docs/PLUGIN.md, built by its own command line outside
of the source tree, is judged."""

import os
import re
import shutil
import subprocess
import tempfile

from plugins import SOURCE, PluginTest, main

ABI = os.path.join(SOURCE, "kernels/abi")


def read(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as file:
        return file.read()


class Outside(PluginTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.compiler = os.environ.get("CC", "cc")
        # The header alone, as somebody outside has it.
        shutil.copy(os.path.join(ABI, "exactk_abi.h"), self.folder)

    def compile(self, *arguments):
        done = subprocess.run([self.compiler, *arguments], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual((0, ""), (done.returncode, done.stderr))

    def test_the_plugin_of_the_documentation_is_built_and_judged(self):
        document = read("docs/PLUGIN.md")
        source = re.search(r"^```c\n(.*?)^```$", document, re.MULTILINE | re.DOTALL).group(1)
        self.assertEqual(read("kernels/examples/topk_c.c"), source)
        build = re.search(r"^cc (-std=c11 .*)$", document, re.MULTILINE).group(1).split()
        self.assertIn("DIR", build)
        with open(os.path.join(self.folder, "my_topk.c"), "w", encoding="utf-8") as file:
            file.write(source)
        self.compile(*[self.folder if word == "DIR" else word for word in build])
        library = os.path.join(self.folder, "my_topk.so")
        out, runs = self.runs(0, "topk.decode rows=12 next_n=3 width=500 k=64 lens=edges launch=graph replays=2",
                              "--plugin", library)
        self.assertEqual([("example.c_sort", library, "passed")],
                         [(run["kernel"], run["plugin"], run["verdict"]) for run in runs], out)

    def test_the_header_compiles_alone_as_c_and_as_cpp_without_a_warning(self):
        for language, standard in (("c", "c11"), ("c++", "c++11"), ("c++", "c++20")):
            self.compile("-x", language, f"-std={standard}", "-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Werror",
                         "exactk_abi.h")

    def test_a_plugin_without_a_slash_in_its_path_is_one_of_this_folder(self):
        with open(os.path.join(self.folder, "mine.c"), "w", encoding="utf-8") as file:
            file.write(read("kernels/examples/topk_c.c"))
        self.compile("-shared", "-fPIC", "-O2", "-I", self.folder, "mine.c", "-o", "mine.so")
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        tool_case = ("topk.decode rows=2 width=64 k=8", "--plugin", "mine.so")
        os.chdir(self.folder)
        _, runs = self.runs(0, *tool_case)
        self.assertEqual("mine.so", runs[0]["plugin"])


if __name__ == "__main__":
    main()
