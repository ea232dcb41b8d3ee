#include "kernels/device/portable.h"

#include "kernels/fill/fill.h"

#include "fixtures/checksum.h"

namespace exactk::kernels {
namespace {

using fixtures::PatternSpec;
using fixtures::RowPattern;

constexpr int kThreads = 256;
constexpr int64_t kElemsPerBlock = 16384;         // enough work to pay for preparing the row
constexpr int64_t kBlocksMax = int64_t{1} << 16;  // beyond that a block takes more elements

// A line is cut into parts of `elems` elements, one block each. Block b has part b % parts of line
// b / parts.
struct Parts {
  int64_t count;
  int64_t elems;
};

Parts cut_lines(int64_t lines, int64_t line_elems) {
  const int64_t most = kBlocksMax / lines > 1 ? kBlocksMax / lines : 1;
  const int64_t wanted = (line_elems + kElemsPerBlock - 1) / kElemsPerBlock;
  const int64_t count = wanted < most ? (wanted > 1 ? wanted : 1) : most;
  return {count, (line_elems + count - 1) / count};
}

// What the elements of one line share, in shared memory.
struct Line {
  RowPattern visible;  // laid out over the visible columns
  RowPattern beyond;   // laid out over the whole width: the tail that goes on
  int64_t row;
  int64_t start;
  int64_t length;
};

__device__ uint32_t column_bits(const Line& line, const PatternSpec& spec, int64_t column) {
  const int64_t place = column - line.start;
  if (place < 0) {
    return fixtures::lead_bits(spec, line.row, column);
  }
  if (place < line.length) {
    return fixtures::visible_bits(line.visible, place);
  }
  if (spec.tail == fixtures::Tail::kGoOn) {
    return fixtures::visible_bits(line.beyond, place);
  }
  return fixtures::tail_bits(spec, line.row, place);
}

// The element at a place of the line. A gap has the tail value of the column that lies `place`
// beyond the width.
__device__ uint32_t place_bits(const Line& line, const PatternSpec& spec,
                               const LogitsLayout& layout, int64_t place) {
  const int64_t stride = layout.column_stride;
  const int64_t column = stride == 1 ? place : place / stride;
  const bool gap = column >= layout.width || column * stride != place;
  return gap ? fixtures::tail_bits(spec, line.row, layout.width + place)
             : column_bits(line, spec, column);
}

__device__ int64_t line_elems(const LogitsLayout& layout, int64_t row) {
  return row + 1 < layout.rows ? layout.row_stride : (layout.width - 1) * layout.column_stride + 1;
}

__global__ __launch_bounds__(kThreads) void fill_lines(PatternSpec spec, LogitsLayout layout,
                                                       Parts parts, const int64_t* row_lengths,
                                                       const int64_t* row_starts,
                                                       uint32_t* logits) {
  __shared__ Line line;
  if (threadIdx.x == 0) {
    line.row = blockIdx.x / parts.count;
    line.start =
        row_starts == nullptr ? 0 : fixtures::clamp_int(row_starts[line.row], 0, layout.width);
    line.length = fixtures::clamp_int(row_lengths[line.row], 0, layout.width - line.start);
    line.visible = fixtures::row_pattern(spec, line.row, line.length);
    if (spec.tail == fixtures::Tail::kGoOn) {
      line.beyond = fixtures::row_pattern(spec, line.row, spec.width);
    }
  }
  __syncthreads();  // the line is prepared before any of its elements is made
  const int64_t begin = blockIdx.x % parts.count * parts.elems;
  const int64_t elems = line_elems(layout, line.row);
  const int64_t end = begin + parts.elems < elems ? begin + parts.elems : elems;
  uint32_t* first = logits + line.row * layout.row_stride;
  for (int64_t place = begin + threadIdx.x; place < end; place += blockDim.x) {
    first[place] = place_bits(line, spec, layout, place);
  }
}

// Adds the terms of one part of a line to the line's sum, which was cleared before.
__global__ __launch_bounds__(kThreads) void sum_lines(LogitsLayout layout, Parts parts,
                                                      const uint32_t* words,
                                                      unsigned long long* sums) {
  __shared__ unsigned long long total;
  if (threadIdx.x == 0) {
    total = 0;
  }
  __syncthreads();  // the total is cleared before anybody adds
  const int64_t row = blockIdx.x / parts.count;
  const int64_t begin = blockIdx.x % parts.count * parts.elems;
  const int64_t end = begin + parts.elems < layout.width ? begin + parts.elems : layout.width;
  const uint32_t* first = words + row * layout.row_stride;
  uint64_t sum = 0;
  for (int64_t column = begin + threadIdx.x; column < end; column += blockDim.x) {
    sum += fixtures::checksum_term(static_cast<uint64_t>(column),
                                   first[column * layout.column_stride]);
  }
  // Relaxed order is enough: a barrier stands between the additions and the reader.
  atomicAdd(&total, static_cast<unsigned long long>(sum));
  __syncthreads();  // all have added before the total is read
  if (threadIdx.x == 0) {
    // Relaxed order is enough: the host reads after waiting for the stream.
    atomicAdd(sums + row, total);
  }
}

std::string launched(const char* what) {
  const hipError_t error = hipGetLastError();
  if (error == hipSuccess) {
    return "";
  }
  return std::string(what) + " was not launched: " + hipGetErrorString(error);
}

std::string fill_logits(const PatternSpec& spec, const LogitsLayout& layout,
                        const int64_t* row_lengths, const int64_t* row_starts, uint32_t* logits,
                        void* stream) {
  const Parts parts = cut_lines(layout.rows, layout.row_stride);
  hipLaunchKernelGGL(fill_lines, dim3(static_cast<unsigned>(layout.rows * parts.count)),
                     dim3(kThreads), 0, static_cast<hipStream_t>(stream), spec, layout, parts,
                     row_lengths, row_starts, logits);
  return launched("the fill kernel");
}

std::string row_checksums(const LogitsLayout& layout, const uint32_t* logits, uint64_t* sums,
                          void* stream) {
  const auto queue = static_cast<hipStream_t>(stream);
  const hipError_t cleared =
      hipMemsetAsync(sums, 0, static_cast<size_t>(layout.rows) * sizeof(uint64_t), queue);
  if (cleared != hipSuccess) {
    static_cast<void>(hipGetLastError());
    return std::string("the checksums were not cleared: ") + hipGetErrorString(cleared);
  }
  const Parts parts = cut_lines(layout.rows, layout.width);
  hipLaunchKernelGGL(sum_lines, dim3(static_cast<unsigned>(layout.rows * parts.count)),
                     dim3(kThreads), 0, queue, layout, parts, logits,
                     reinterpret_cast<unsigned long long*>(sums));
  return launched("the checksum kernel");
}

std::string words_checksum(const void* words, int64_t count, uint64_t* sum, void* stream) {
  return row_checksums({1, count, count, 1}, static_cast<const uint32_t*>(words), sum, stream);
}

}  // namespace

FillFunctions fill_functions() {
  return {&fill_logits, &row_checksums, &words_checksum};
}

}  // namespace exactk::kernels
