#include "tests/props/fake_kernel.h"

#include <algorithm>
#include <numeric>

namespace exactk::tests {
namespace {

FakeKernel* current = nullptr;

const exactk_topk_decode& decode_of(const void* descriptor) {
  return *static_cast<const exactk_topk_decode*>(descriptor);
}

int64_t length_of(const exactk_topk_decode& d, int64_t row) {
  const int64_t length = d.seq_lens_dim == 2
                             ? d.seq_lens[row]
                             : d.seq_lens[row / d.next_n] - d.next_n + row % d.next_n + 1;
  return std::max<int64_t>(0, length);
}

exactk_status run_rows(const exactk_topk_decode& d) {
  const auto* logits = reinterpret_cast<const uint32_t*>(d.logits);
  for (int64_t row = 0; row < d.rows; ++row) {
    std::vector<uint32_t> visible(static_cast<size_t>(length_of(d, row)));
    for (size_t i = 0; i < visible.size(); ++i) {
      visible[i] =
          logits[row * d.row_stride_elems + static_cast<int64_t>(i) * d.column_stride_elems];
    }
    current->body(d, row, visible,
                  {d.indices + row * d.out_stride_elems, static_cast<size_t>(d.k)});
  }
  return EXACTK_OK;
}

}  // namespace

void right_row(const exactk_topk_decode& d, int64_t, std::span<const uint32_t> logits,
               std::span<int32_t> slots) {
  const auto key = [&](int32_t column) {
    const uint32_t bits = logits[static_cast<size_t>(column)];
    return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
  };
  std::vector<int32_t> columns(logits.size());
  std::iota(columns.begin(), columns.end(), 0);
  std::stable_sort(columns.begin(), columns.end(),
                   [&](int32_t a, int32_t b) { return key(a) > key(b); });
  columns.resize(std::min(columns.size(), static_cast<size_t>(d.k)));
  std::sort(columns.begin(), columns.end());
  std::fill(slots.begin(), slots.end(), -1);
  std::copy(columns.begin(), columns.end(), slots.begin());
}

FakeKernel::FakeKernel(RowBody row_body, uint32_t modes) : body(std::move(row_body)) {
  current = this;
  kernel.struct_size = sizeof(kernel);
  kernel.modes = modes;
  kernel.name = "topk.fake";
  kernel.op = "topk.decode";
  kernel.description = "a kernel for tests";
  kernel.supports = [](const void* d, char* message, size_t bytes) {
    return current->supports ? current->supports(decode_of(d), message, bytes) : EXACTK_OK;
  };
  kernel.workspace_bytes = [](const void*) { return current->workspace_bytes; };
  kernel.launch = [](const void* d, char* message, size_t bytes) {
    return current->launch ? current->launch(decode_of(d), message, bytes) : run_rows(decode_of(d));
  };
}

FakeKernel::~FakeKernel() {
  current = nullptr;
}

props::KernelUnderTest FakeKernel::under_test() const {
  return {&kernel, std::nullopt, false};
}

}  // namespace exactk::tests
