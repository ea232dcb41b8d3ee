#include "tests/kernels/attention/problem.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "props/attention_report.h"

namespace exactk::kernels::test {
namespace {

fixtures::Case parsed(std::string_view text) {
  const auto c = fixtures::parse_case(text);
  if (!c) {
    std::fprintf(stderr, "%s\n", c.error().c_str());
    std::abort();
  }
  return *c;
}

}  // namespace

AttentionCase::AttentionCase(std::string_view text)
    : problem(props::attention_problem(parsed(text))),
      tensors_(props::attention_tensors(problem)),
      call_(
          std::make_unique<props::AttentionCall>(problem, fixtures::longest_lists(problem.c, 0))) {
  misalign = problem.c.misalign;
  go_to(0);
}

void AttentionCase::go_to(int64_t number) {
  step = props::attention_step(problem, number);
}

std::vector<Output> AttentionCase::outputs() const {
  std::vector<Output> outputs;
  for (const props::TensorSpec& tensor : tensors_) {
    if (tensor.role == props::Role::kOutput) {
      outputs.push_back({tensor.name, tensor.bytes, tensor.misalign_bytes});
    }
  }
  return outputs;
}

void AttentionCase::upload_inputs(Buffers& buffers) const {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (tensors_[i].role == props::Role::kInput && tensors_[i].bytes > 0) {
      const auto bytes = step.bytes(i);
      buffers.upload(tensors_[i].name, std::vector<std::byte>(bytes.begin(), bytes.end()));
    }
  }
}

const void* AttentionCase::descriptor(const Buffers& buffers, const Place& place) {
  props::Placement at;
  for (const props::TensorSpec& tensor : tensors_) {
    at.tensors.push_back(buffers.at<std::byte>(tensor.name));
  }
  at.workspace = static_cast<std::byte*>(place.workspace);
  at.workspace_bytes = place.workspace_bytes;
  at.stream = place.stream;
  call_->place(at);
  return call_->descriptor();
}

std::string AttentionCase::judge(Buffers& buffers, uint8_t before) const {
  answer_.assign(props::kAttentionTensors, {});
  int64_t gaps = 0;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (tensors_[i].role == props::Role::kOutput) {
      answer_[i] = buffers.download<std::byte>(tensors_[i].name);
    }
  }
  const int64_t row = problem.c.heads * problem.c.dim_v;
  const props::Bytes& out = answer_[props::kAttentionOut];
  for (int64_t at = 0; at < std::ssize(out); ++at) {
    const bool gap = at / 2 % problem.shape.out_stride >= row;
    gaps += gap && out[static_cast<size_t>(at)] != std::byte{before} ? 1 : 0;
  }
  judgement_ = props::judge_attention_outputs(problem, step, call_->rounding(), answer_);
  const std::string unlikely = props::problem_of(call_->rounding());
  if (!unlikely.empty() || (judgement_.ok() && gaps == 0)) {
    return unlikely;
  }
  return props::diagnose({problem, step, judgement_, gaps, 0, 0});
}

std::vector<std::string_view> shipped_kernels(const AttentionCase& attention) {
  if (attention.problem.decode) {
    return {"attention.decode_rows", "attention.decode_split"};
  }
  return {"attention.prefill_tiles"};
}

}  // namespace exactk::kernels::test
