// What a decode step refuses: stages that do not read what the one before writes.
#include <gtest/gtest.h>

#include "tests/kernels/refusal.h"

namespace exactk::kernels::test {
namespace {

constexpr int64_t kRows = 8;
constexpr int64_t kWidth = 1000;
constexpr int64_t kSelected = 64;

// A step of positional slots, with the addresses that connect its stages.
struct Step {
  exactk_mqa_logits_paged logits{};
  exactk_topk_decode topk{};
  exactk_translate translate{};
  exactk_sparse_decode attention{};
  exactk_decode_step d{};
  float scores = 0;
  int32_t indices = 0, slots = 0;

  Step() {
    logits.struct_size = sizeof(logits);
    logits.seq_lens_dim = 1;
    logits.rows = kRows;
    logits.next_n = 2;
    logits.width = kWidth;
    logits.heads = 8;
    logits.dim = 64;
    logits.query_stride_bytes = 8 * 64;
    logits.head_stride_bytes = 64;
    logits.weight_stride_elems = 8;
    logits.out_stride_elems = kWidth;
    logits.blocks = 100;
    logits.block_size = 64;
    logits.block_stride_bytes = 64 * 68;
    logits.table_blocks = logits.table_stride_elems = 16;
    logits.logits = &scores;
    topk.struct_size = sizeof(topk);
    topk.seq_lens_dim = 1;
    topk.rows = kRows;
    topk.next_n = 2;
    topk.width = topk.row_stride_elems = kWidth;
    topk.column_stride_elems = 1;
    topk.k = topk.out_stride_elems = kSelected;
    topk.compress_ratio = 1;
    topk.arch = "gfx950";
    topk.logits = &scores;
    topk.indices = &indices;
    translate.struct_size = sizeof(translate);
    translate.slot_bytes = 4;
    translate.tokens = kRows;
    translate.k = translate.index_stride_elems = translate.out_stride_elems = kSelected;
    translate.requests = kRows / 2;
    translate.table_blocks = translate.table_stride_elems = 16;
    translate.block_size = 64;
    translate.indices = &indices;
    translate.slots = &slots;
    attention.struct_size = sizeof(attention);
    attention.variant = EXACTK_ATTENTION_FULL;
    attention.tokens = kRows;
    attention.next_n = 2;
    attention.heads = 4;
    attention.dim = 192;
    attention.dim_v = 128;
    attention.out_stride_elems = 4 * 128;
    attention.scale = 1;
    attention.main.indices = &slots;
    attention.main.k = attention.main.index_stride_elems = kSelected;
    attention.main.blocks = 64;
    attention.main.block_size = 64;
    attention.main.block_stride_bytes = 64 * 192 * 2;
    d = {sizeof(d), 0, &logits, &topk, &translate, &attention};
  }
  Step(const Step&) = delete;
};

struct Broken {
  void (*change)(Step&);
  const char* wanted;
};

TEST(StepRefusal, TakesWhatItsStagesTake) {
  const Step step;
  EXPECT_EQ(Answer(EXACTK_OK, ""), ask("step.auto", step.d));
  EXPECT_EQ(Answer(EXACTK_OK, ""), ask("step.filled", step.d));
}

TEST(StepRefusal, SaysWhichStagesDoNotFit) {
  const char* const stages = "descriptors of logits, top-k, translation and attention";
  const char* const reads = "stages that read what the one before writes";
  const char* const sizes = "stages of the same rows, width and k, and slots of 4 bytes";
  const char* const forms = "attention full of a positional or compact translation, or both ragged";
  const Broken broken[] = {
      {[](Step& s) { s.d.logits = nullptr; }, stages},
      {[](Step& s) { s.d.attention = nullptr; }, stages},
      {[](Step& s) { s.topk.logits = nullptr; }, reads},
      {[](Step& s) { s.translate.indices = nullptr; }, reads},
      {[](Step& s) { s.attention.main.indices = nullptr; }, reads},
      {[](Step& s) { s.attention.main.lens = &s.indices; }, reads},
      {[](Step& s) { s.topk.rows = 7; }, sizes},
      {[](Step& s) { s.topk.width = 999; }, sizes},
      {[](Step& s) { s.attention.main.k = 63; }, sizes},
      {[](Step& s) { s.translate.slot_bytes = 8; }, sizes},
      {[](Step& s) { s.translate.variant = EXACTK_TRANSLATE_RAGGED; }, forms},
      {[](Step& s) { s.attention.variant = EXACTK_ATTENTION_DENSE; }, forms},
      {[](Step& s) { s.translate.variant = EXACTK_TRANSLATE_PACK; }, forms},
  };
  for (const Broken& one : broken) {
    Step step;
    one.change(step);
    EXPECT_EQ(Answer(EXACTK_ERROR, std::string("step.auto needs ") + one.wanted + "; got others"),
              ask("step.auto", step.d));
  }
}

TEST(StepRefusal, NamesTheStageThatDeclines) {
  Step step;
  step.translate.block_size = 0;
  const Answer answer = ask("step.auto", step.d);
  EXPECT_EQ(EXACTK_ERROR, answer.first);
  EXPECT_EQ(0u, answer.second.find("translate.rows needs a block size")) << answer.second;
}

}  // namespace
}  // namespace exactk::kernels::test
