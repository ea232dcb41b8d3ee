// The index operations as bases of the kernels that kernels/launch.h describes.
#pragma once

#include "kernels/device/portable.h"

#include "kernels/abi/exactk_abi.h"
#include "kernels/index/check.h"
#include "kernels/index/combine.h"
#include "kernels/index/swa.h"
#include "kernels/index/translate.h"
#include "kernels/launch.h"

namespace exactk::kernels::index {

// The scan over row lengths: two launches.
template <class Traits, class Length>
bool enqueue_scan(const Call& call, const FlatRows& rows, const Length& length) {
  hipLaunchKernelGGL((scan_chunks<Length>), blocks(rows.chunk_count), dim3(kScanThreads), 0,
                     call.stream, rows, length);
  if (!call.launched("scan")) {
    return false;
  }
  hipLaunchKernelGGL((sum_chunks<Traits>), dim3(1), dim3(kScanThreads), 0, call.stream, rows);
  return call.launched("sum");
}

template <class Traits>
bool enqueue_rows(const Call& call, const exactk_combine& d) {
  hipLaunchKernelGGL((combine_rows<Traits>), blocks(d.tokens), dim3(row_threads(d.columns * 4)), 0,
                     call.stream, d);
  return call.launched("row");
}

struct Combine {
  using Descriptor = exactk_combine;
  static constexpr const char* kOp = "index.combine";
  static constexpr auto check = &check_combine;

  static int64_t workspace(const exactk_combine& d) {
    return d.variant == EXACTK_COMBINE_RAGGED ? scan_bytes(d.tokens) : 0;
  }

  template <class Traits>
  static bool enqueue(const Call& call, const exactk_combine& d) {
    if (d.variant != EXACTK_COMBINE_RAGGED) {
      return enqueue_rows<Traits>(call, d);
    }
    const FlatRows rows = flat_rows(d.workspace, d.tokens);
    if (!enqueue_scan<Traits>(call, rows, CombineLengths<Traits>{d})) {
      return false;
    }
    hipLaunchKernelGGL((combine_flat<Traits>), blocks(d.tokens),
                       dim3(row_threads((d.k + d.window) * 4)), 0, call.stream, d, rows);
    return call.launched("row");
  }
};

// The published form: -1 everywhere, then the entries of each row and nothing behind them.
struct CombineFillFirst {
  using Descriptor = exactk_combine;
  static constexpr const char* kOp = "index.combine";
  static constexpr auto check = &check_fill_first;

  static int64_t workspace(const exactk_combine&) { return 0; }

  template <class Traits>
  struct EntriesOnly : Traits {
    __device__ static int64_t row_end(int64_t, int64_t filled) { return filled; }
  };

  template <class Traits>
  static bool enqueue(const Call& call, const exactk_combine& d) {
    hipLaunchKernelGGL((fill_rows<Traits>), blocks(d.tokens), dim3(row_threads(d.columns * 4)), 0,
                       call.stream, d);
    return call.launched("fill") && enqueue_rows<EntriesOnly<Traits>>(call, d);
  }
};

struct Translate {
  using Descriptor = exactk_translate;
  static constexpr const char* kOp = "index.translate";
  static constexpr auto check = &check_translate;

  static int64_t workspace(const exactk_translate& d) {
    const bool scans = d.variant == EXACTK_TRANSLATE_RAGGED || d.variant == EXACTK_TRANSLATE_PACK;
    return scans ? scan_bytes(d.tokens) : 0;
  }

  template <class Traits>
  static bool enqueue(const Call& call, const exactk_translate& d) {
    return d.slot_bytes == 8 ? enqueue_slots<Traits, int64_t>(call, d)
                             : enqueue_slots<Traits, int32_t>(call, d);
  }

 private:
  template <class Traits, class Slot>
  static bool enqueue_slots(const Call& call, const exactk_translate& d) {
    const dim3 grid = blocks(d.tokens);
    const dim3 threads(row_threads(d.k * d.slot_bytes));
    switch (d.variant) {
      case EXACTK_TRANSLATE_RAGGED:
        return enqueue_ragged<Traits, Slot>(call, d);
      case EXACTK_TRANSLATE_PACK:
        return enqueue_pack<Traits, Slot>(call, d);
      case EXACTK_TRANSLATE_COMPACT:
        hipLaunchKernelGGL((translate_compact<Traits, Slot>), grid, threads, 0, call.stream, d);
        break;
      case EXACTK_TRANSLATE_FLAT:
        hipLaunchKernelGGL((translate_flat<Traits, Slot>), grid, threads, 0, call.stream, d);
        break;
      case EXACTK_TRANSLATE_CAPPED:
        hipLaunchKernelGGL((translate_capped<Traits, Slot>), grid, threads, 0, call.stream, d);
        break;
      default:
        hipLaunchKernelGGL((translate_positional<Traits, Slot>), grid, threads, 0, call.stream, d);
    }
    return call.launched("row");
  }

  template <class Traits, class Slot>
  static bool enqueue_ragged(const Call& call, const exactk_translate& d) {
    const dim3 grid = blocks(d.tokens);
    const dim3 threads(row_threads(d.k * d.slot_bytes));
    const FlatRows rows = flat_rows(d.workspace, d.tokens);
    hipLaunchKernelGGL((count_valid<Traits>), grid, threads, 0, call.stream, d, rows);
    if (!call.launched("count") || !enqueue_scan<Traits>(call, rows, RaggedLengths{rows.before})) {
      return false;
    }
    hipLaunchKernelGGL((translate_ragged<Traits, Slot>), grid, threads, 0, call.stream, d, rows);
    return call.launched("row");
  }

  template <class Traits, class Slot>
  static bool enqueue_pack(const Call& call, const exactk_translate& d) {
    const FlatRows rows = flat_rows(d.workspace, d.tokens);
    if (!enqueue_scan<Traits>(call, rows, PackLengths<Traits>{d.lengths, d.k})) {
      return false;
    }
    hipLaunchKernelGGL((pack_rows<Traits, Slot>), blocks(d.tokens),
                       dim3(row_threads(d.k * d.slot_bytes)), 0, call.stream, d, rows);
    return call.launched("row");
  }
};

struct Swa {
  using Descriptor = exactk_swa;
  static constexpr const char* kOp = "index.swa";
  static constexpr auto check = &check_swa;

  static int64_t workspace(const exactk_swa&) { return 0; }

  template <class Traits>
  static bool enqueue(const Call& call, const exactk_swa& d) {
    const dim3 threads(row_threads(d.columns * d.slot_bytes));
    if (d.slot_bytes == 8) {
      hipLaunchKernelGGL((swa_rows<Traits, int64_t>), blocks(d.tokens), threads, 0, call.stream, d);
    } else {
      hipLaunchKernelGGL((swa_rows<Traits, int32_t>), blocks(d.tokens), threads, 0, call.stream, d);
    }
    return call.launched("row");
  }
};

}  // namespace exactk::kernels::index
