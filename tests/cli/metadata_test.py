"""exactk metadata: programs of steps from the line, from files and at random, and every exit code."""

import json
import os
import re
import tempfile

from tool import ToolTest, main

SMALL = "mla k=4 ; build 4/4 ; build 4/100"


class Metadata(ToolTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_shipped_builders_pass(self):
        program = "mla k=4 tokens=8 ; build 1/10 3/10 host=bound:8 ; run ; capture ; build 1/0 1/5 ; replay"
        out, _ = self.call(0, "metadata", program, SMALL)
        self.assertEqual("programs passed 8, failed 0, weak 0; 28 commands, 0 plans reused\n", out)

    def test_random_programs_pass_and_depend_on_the_seed_alone(self):
        out, _ = self.call(0, "metadata", "--random", "40", "--seed", "5", "--wave", "32")
        self.assertIn("seed 5 (given): program i follows from it and i alone", out)
        again, _ = self.call(0, "metadata", "--random", "40", "--seed", "5", "--wave", "64")
        self.assertEqual(out, again)

    def test_a_fault_is_found_made_small_and_replayed_from_its_text(self):
        out, _ = self.call(1, "metadata", "--random", "200", "--seed", "1", "--wave", "64",
                           "--kernel", "mutant.mla_key_published")
        self.assertIn("FAILED  mutant.mla_key_published  host wave=64", out)
        small = out[out.index("\nsmall "):]
        replay = re.search(r"^replay  exactk metadata '(.*)' (--kernel .*)$", small, re.MULTILINE)
        out, _ = self.call(1, "metadata", replay[1], *replay[2].split(), "--shrink-budget", "0")
        self.assertIn(re.search(r"^  BAD .*$", small, re.MULTILINE)[0], out)
        self.call(0, "metadata", replay[1])

    def test_a_failure_says_what_is_wrong_where(self):
        out, _ = self.call(1, "metadata", SMALL, "--kernel", "mutant.mla_key_published", "--wave", "64")
        self.assertIn("program mla ; build 4/4 ; build 4/100\nstep 2  build 4/100\n  BAD   work plan: kv offset: work 0", out)
        self.assertTrue(out.endswith("programs passed 0, failed 1, weak 0; 2 commands, 1 plans reused\n"), out)

    def test_files_hold_a_program_a_line(self):
        path = os.path.join(self.folder, "some.programs")
        with open(path, "w") as file:
            file.write(f"# two programs\n\n{SMALL}  # a comment\nmla k=2 ; build 1/1\n")
        out, _ = self.call(0, "metadata", "--programs", path, "--wave", "64", "--kernel", "mla.serial")
        self.assertTrue(out.startswith("programs passed 2"), out)
        with open(path, "a") as file:
            file.write("mla ; grow\n")
        self.refused(2, ["some.programs:5", "'grow' is no command"], "metadata", "--programs", path)
        self.refused(2, ["can't read", "none.programs"], "metadata", "--programs", "none.programs")

    def test_the_report_has_every_listed_program_and_every_failure(self):
        path = os.path.join(self.folder, "report.json")
        self.call(1, "metadata", SMALL, "--kernel", "mla.parallel,mutant.mla_key_published", "--wave", "32", "--json", path)
        with open(path) as file:
            report = json.load(file)
        self.assertEqual(["passed", "failed"], [run["verdict"] for run in report["runs"]])
        failed = report["runs"][1]
        self.assertEqual((2, "work plan"), (failed["command"], failed["what"]))
        self.assertTrue(failed["minimal"])
        self.assertEqual({"passed": 1, "failed": 1, "weak": 0, "commands": 4, "plans_reused": 1}, report["totals"])
        self.assertEqual(1, report["exit_code"])

    def test_what_cannot_be_run_has_an_exit_code_of_its_own(self):
        self.refused(2, ["command line", "'1' is no request"], "metadata", "mla ; build 1")
        self.refused(2, ["exactk list metadata"], "metadata", SMALL, "--kernel", "topk.block")
        self.refused(3, ["no program is given"], "metadata")
        _, err = self.call(3, "metadata", "mla ; build 1/0")
        self.assertIn("nothing was at stake", err)
        self.refused(4, ["nowhere"], "metadata", SMALL, "--device", "nowhere")
        self.refused(5, ["budget ended"], "metadata", SMALL, SMALL, "--budget", "0.000001")
        self.call(2, "metadata", SMALL, "--plugin", "x.so")

    def test_every_planted_fault_is_listed_with_a_program_that_reaches_it(self):
        out, _ = self.call(0, "list", "metadata")
        programs = re.findall(r"^(mutant\.mla_\w+).*\n +reached by: (.*)$", out, re.MULTILINE)
        self.assertGreaterEqual(len(programs), 20)
        for name, program in programs[:3]:
            self.call(1, "metadata", program, "--kernel", name, "--shrink-budget", "0")


if __name__ == "__main__":
    main()
