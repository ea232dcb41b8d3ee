"""A recorded work plan is judged by the rules that every plan keeps."""

import array
import os
import tempfile

from npy import write_npy
from tool import ToolTest, main

# Four rows of 40, 0, 17 and 16 keys; row 2 is split. Worked out in tests/oracle/work_plan_test.cpp.
PLAN = {
    "qo-indptr": [0, 1, 2, 3, 4],
    "kv-indptr": [0, 40, 40, 57, 73],
    "work-indptr": [0, 1, 3, 5],
    "work-info": [0, -1, 0, 1, 0, 40, 0, 0,
                  1, -1, 1, 2, 40, 40, 0, 0,
                  2, 0, 2, 3, 40, 56, 1, 0,
                  2, 1, 2, 3, 56, 57, 0, 0,
                  3, -1, 3, 4, 57, 73, 0, 0],
    "reduce-indptr": [0, 0, 0, 2, 2],
    "reduce-final-map": [0, 0, 0, 0, 2, 3, 0, 0],
    "reduce-partial-map": [0, 1],
}


class CheckPlan(ToolTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def arguments(self, without=None, descr="<i4", **changed):
        line = ["check", "--op", "mla.plan"]
        for name, values in PLAN.items():
            values = changed.get(name.replace("-", "_"), values)
            path = os.path.join(self.folder, name + ".npy")
            code = "i" if descr == "<i4" else "q"
            write_npy(path, descr, (len(values),), array.array(code, values).tobytes())
            if name != without:
                line += ["--" + name, path]
        return line

    def test_a_right_plan_passes(self):
        out, _ = self.call(0, *self.arguments())
        self.assertIn("PASSED  mla.plan", out)
        self.assertIn("4 rows in 4 tiles, 1 of them split and 1 empty, 5 works", out)
        self.assertTrue(out.endswith("rows passed 4, failed 0\n"), out)

    def test_an_empty_row_without_a_work_fails(self):
        info = PLAN["work-info"]
        out, _ = self.call(1, *self.arguments(work_info=info[:8] + info[16:], work_indptr=[0, 1, 2, 4]))
        self.assertIn("no work: nobody works on tile 1 of batch 1", out)
        self.assertTrue(out.endswith("rows passed 3, failed 1\n"), out)

    def test_a_plan_for_another_step_fails(self):
        out, _ = self.call(1, *self.arguments(kv_indptr=[0, 40, 40, 57, 80]))
        self.assertIn("gap: tile 3: nobody reads the kv positions [73, 80)", out)

    def test_a_plan_for_more_workers_than_run_fails(self):
        out, _ = self.call(1, *self.arguments(), "--workers", "2")
        self.assertIn("2 of 5 works are of workers from 2 on", out)

    def test_capacity_and_granularity_are_the_caller_s(self):
        self.call(0, *self.arguments(), "--partials", "2", "--granularity", "8")
        self.call(1, *self.arguments(), "--partials", "1")
        self.call(1, *self.arguments(), "--granularity", "32")

    def test_what_cannot_be_judged_is_refused_in_a_sentence(self):
        _, err = self.call(2, *self.arguments(without="work-info"))
        self.assertIn("mla.plan takes --work-info", err)
        _, err = self.call(2, *self.arguments(descr="<i8"))
        self.assertIn("arrays of a plan are int32", err)
        _, err = self.call(2, *self.arguments(kv_indptr=[0, 40, 39, 57, 73]))
        self.assertIn("kv_indptr falls from 40 to 39", err)
        _, err = self.call(2, *self.arguments(), "--logits", "x.npy")
        self.assertIn("mla.plan is not given its own files alone", err)

    def test_what_would_take_for_ever_is_refused(self):
        most = 2**31 - 1
        _, err = self.call(2, *self.arguments(qo_indptr=[0, 1, 2, 3, most]))
        self.assertIn("qo_indptr has 2147483647 query rows; at most 16777216 can be judged", err)
        _, err = self.call(2, *self.arguments(qo_indptr=[0, 2, 4, 6, 8], kv_indptr=[0, most, most, most, most]), "--tile-rows", "2")
        self.assertIn("the step has 4294967294 pairs of a query row and a key; at most 2147483648", err)
        info = PLAN["work-info"]
        _, err = self.call(2, *self.arguments(kv_indptr=[0, most, most, most, most], work_info=[0, -1, 0, 1, 0, most, 0, 0] * 5))
        self.assertIn("the works read", err)
        self.assertIn("reads kv positions below 2147483647 again", err)

    def test_no_rows_are_nothing_judged(self):
        self.call(3, *self.arguments(qo_indptr=[0], kv_indptr=[0], work_indptr=[0, 0], reduce_indptr=[0]))


if __name__ == "__main__":
    main()
