// Top-k around std::nth_element, for the host device: one template for decode and prefill rows.
// What works at the call, and not on the stream, is wrapped so that the stream runs it.
#include <exactk_abi.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>

namespace {

const exactk_host* host = nullptr;

struct Window {
  int64_t start = 0;
  int64_t length = 0;
};

Window window(const exactk_topk_decode& d, int64_t row) {
  const int64_t length = d.seq_lens_dim == 2
                             ? d.seq_lens[row]
                             : d.seq_lens[row / d.next_n] - d.next_n + row % d.next_n + 1;
  return {0, std::max<int64_t>(0, length)};
}

Window window(const exactk_topk_prefill& d, int64_t row) {
  return {d.row_starts[row], std::max<int64_t>(0, int64_t{d.row_ends[row]} - d.row_starts[row])};
}

// The best columns of one row in ascending order, then -1.
template <class Descriptor>
void select(const Descriptor& d, int64_t row) {
  const auto [start, length] = window(d, row);
  const float* logits = d.logits + row * d.row_stride_elems + start * d.column_stride_elems;
  const auto key = [&](int32_t column) {
    const uint32_t bits = std::bit_cast<uint32_t>(logits[column * d.column_stride_elems]);
    return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
  };
  const std::span columns(static_cast<int32_t*>(d.workspace), static_cast<size_t>(length));
  std::iota(columns.begin(), columns.end(), 0);
  const int64_t selected = std::min(d.k, length);
  std::nth_element(
      columns.begin(), columns.begin() + selected, columns.end(),
      [&](int32_t a, int32_t b) { return key(a) != key(b) ? key(a) > key(b) : a < b; });
  std::sort(columns.begin(), columns.begin() + selected);
  int32_t* slots = d.indices + row * d.out_stride_elems;
  std::fill(std::copy_n(columns.begin(), selected, slots), slots + d.k, -1);
}

template <class Descriptor>
exactk_status supports(const void*, char*, size_t) {
  return EXACTK_OK;
}

template <class Descriptor>
int64_t workspace_bytes(const void* descriptor) {
  return static_cast<const Descriptor*>(descriptor)->width * 4;
}

template <class Descriptor>
exactk_status launch(const void* descriptor, char* message, size_t message_bytes) {
  const auto run = [](const void* arguments) {
    const auto& d = *static_cast<const Descriptor*>(arguments);
    for (int64_t row = 0; row < d.rows; ++row) select(d, row);
  };
  const auto& d = *static_cast<const Descriptor*>(descriptor);
  return host->enqueue(d.stream, run, &d, sizeof(d), message, message_bytes);
}

template <class Descriptor>
exactk_kernel describe(const char* name, const char* op) {
  exactk_kernel kernel{};
  kernel.struct_size = sizeof(kernel);
  kernel.modes = EXACTK_MODE_STABLE | EXACTK_MODE_REPEATABLE | EXACTK_MODE_KERNELS_ONLY;
  kernel.name = name;
  kernel.op = op;
  kernel.description = "std::nth_element of the columns, then sorted.";
  kernel.supports = supports<Descriptor>;
  kernel.workspace_bytes = workspace_bytes<Descriptor>;
  kernel.launch = launch<Descriptor>;
  return kernel;
}

}  // namespace

extern "C" exactk_status exactk_plugin_v1(const exactk_host* told, exactk_plugin* plugin) {
  static const exactk_kernel decode =
      describe<exactk_topk_decode>("example.std_decode", "topk.decode");
  static const exactk_kernel prefill =
      describe<exactk_topk_prefill>("example.std_prefill", "topk.prefill");
  static const exactk_kernel* const kernels[] = {&decode, &prefill};
  host = told;
  plugin->struct_size = sizeof(*plugin);
  plugin->abi_version = EXACTK_ABI_VERSION;
  plugin->name = "example around std::nth_element";
  plugin->kernels = kernels;
  plugin->kernel_count = 2;
  plugin->message = "it has kernels for the host device only";
  return told->enqueue != nullptr ? EXACTK_OK : EXACTK_DECLINED;
}
