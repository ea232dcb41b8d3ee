// The kernels that are built into this program, per device kind: the shipped ones and, apart from
// them, the mutants.
#pragma once

#include <span>
#include <string_view>

#include "kernels/abi/exactk_abi.h"
#include "kernels/fill/fill.h"
#include "kernels/metadata/plan.h"

namespace exactk::kernels {

// One planted fault.
struct Mutant {
  const exactk_kernel* kernel;     // name "mutant.<defect>"
  std::string_view base;           // the kernel that it changes, "topk.block"
  std::string_view kind;           // kind of fault, "F04"
  std::string_view reaching_case;  // a case line at which it fails
  int wave_width = 0;              // the only one at which it fails there; 0: any
  // It fails there for certain on the host device alone: a race that a schedule shows, or a use of
  // memory that was freed.
  bool host_only = false;
};

// The same sources, compiled for one device kind. A kernel runs on devices of its kind only.
struct TargetKernels {
  std::string_view kind;  // "host", "hip", "cuda"
  // topk.decode: topk.block, topk.split_merge, topk.k512, topk.k1024, topk.auto, topk.stable,
  // topk.gated; topk.prefill: topk.prefill_block, topk.prefill_stable; index.combine:
  // combine.fused, combine.fill_first; index.translate: translate.rows; index.swa: swa.rows;
  // chain.decode: chain.decode_auto, chain.decode_stable; chain.prefill: chain.prefill_block;
  // logits.mqa: mqa.tiles; logits.mqa_paged: mqa.paged_tiles; attention.sparse_prefill:
  // attention.prefill_tiles; attention.sparse_decode: attention.decode_rows,
  // attention.decode_split; step.decode: step.auto, step.filled; router.grouped_topk: router.wave,
  // router.ranks; in this order.
  std::span<const exactk_kernel* const> shipped;
  std::span<const Mutant> mutants;
  FillFunctions fill;
  metadata::MetadataFunctions metadata;
};

// The kernels for devices of a kind; nullptr: not built in.
const TargetKernels* target_kernels(std::string_view kind);

}  // namespace exactk::kernels
