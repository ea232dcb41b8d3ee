"""exactk power: the matrix, its reports, and the exit codes."""

import html.parser
import json
import os
import tempfile

from tool import ToolTest, main

TAIL = "topk.decode rows=4 width=256 k=8 lens=list:6:8:20:200"
FULL = "topk.decode rows=4 width=256 k=8 lens=const:200"


class Balance(html.parser.HTMLParser):
    """Fails where tags do not close, and where the page asks for a file or a script."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        assert tag not in ("script", "img", "link"), tag
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


class Power(ToolTest):
    def test_says_what_kills_a_fault_and_what_misses_it(self):
        with tempfile.TemporaryDirectory() as folder:
            page, report = os.path.join(folder, "p.html"), os.path.join(folder, "p.json")
            out, _ = self.call(0, "power", FULL, TAIL, "--kernel", "mutant.tail_not_written", "--json", report, "--html", page)
            self.assertIn("killed by run 3 ", out)
            self.assertIn("needs: inputs\n", out)
            self.assertIn("killed 1 of 1 reachable faults, 0 unreachable", out)
            self.assertRegex(out, r"only set, then values +killed +0   alive: mutant.tail_not_written")
            self.assertRegex(out.splitlines()[-1], r"^1 faults on host, wave 32 and 64, 4 silent runs of unmodified kernels")
            with open(report, encoding="utf-8") as file:
                fault = json.load(file)["faults"][0]
            columns = fault["tiers"]["lines"]["columns"]
            self.assertTrue(columns["whole"]["killed"])
            self.assertIn(TAIL, columns["whole"]["by"])
            self.assertFalse(columns["no inputs"]["killed"])
            with open(page, encoding="utf-8") as file:
                text = file.read()
            balance = Balance()
            balance.feed(text)
            self.assertEqual([], balance.open)
            self.assertEqual(12, text.count("<td class="))
            self.assertRegex(text, r"Input space: \d+ bins visited, 0 required, 0 missing")
            self.assertIn("<th>topk.decode</th><th>length and k</th><th>below k</th>", text)

    def test_the_page_says_which_required_bins_are_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            cases, page = os.path.join(folder, "smoke.cases"), os.path.join(folder, "p.html")
            with open(cases, "w", encoding="utf-8") as file:
                file.write(TAIL + "\n")
            self.call(0, "power", "--cases", cases, "--kernel", "mutant.tail_not_written", "--html", page)
            with open(page, encoding="utf-8") as file:
                text = file.read()
            self.assertRegex(text, r"Input space: \d+ bins visited, [1-9]\d* required, [1-9]\d* missing")
            self.assertIn("<th>k512 auto 384 +1</th><td>0</td><th>MISSING</th>", text)
            self.call(0, "power", "--cases", cases, "--kernel", "mutant.tail_not_written", "--no-baseline", "--html", page)
            with open(page, encoding="utf-8") as file:
                self.assertIn("the unmodified kernels were not run", file.read())

    def test_fails_where_too_few_faults_are_killed(self):
        out, errors = self.call(1, "power", FULL, "--kernel", "mutant.tail_not_written")
        self.assertIn("ALIVE after 2 runs", out)
        self.assertIn("alive: mutant.tail_not_written", out)
        self.assertIn("tier lines kills 0 of 1 reachable faults, and --at-least is 90 %", errors)
        self.call(0, "power", FULL, "--kernel", "mutant.tail_not_written", "--at-least", "0")

    def test_refuses_what_is_no_fault_and_no_tier(self):
        self.refused(2, ["no tier"], "power")
        self.refused(2, ["topk.block", "list mutants"], "power", FULL, "--kernel", "topk.block")
        self.refused(2, ["/no/such"], "power", FULL, "--html", "/no/such/p.html")


if __name__ == "__main__":
    main()
