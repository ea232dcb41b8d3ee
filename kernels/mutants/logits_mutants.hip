#include "kernels/device/portable.h"

#include "kernels/mutants/logits_mutants.h"

#include "kernels/logits/launch.h"

namespace exactk::kernels::planted {
namespace {

using logits::fp8_value;
using logits::Shipped;

__device__ inline int64_t rounded_down(int64_t value, int64_t step) {
  return value < 0 ? value : value / step * step;
}
__device__ inline int64_t rounded_up(int64_t value, int64_t step) {
  return value < 0 ? value : (value + step - 1) / step * step;
}

// F21: the scale counts twice, as where one operand is halved and both are made up for.
struct ScaleDoubled : logits::Ragged {
  struct Traits : Shipped {
    __device__ static float scaled(float sum, float scale) { return 2 * sum * scale; }
  };
  static constexpr const char* kName = "mutant.scale_doubled";
};

// F21: keys are of the flavour that the silicon has, whatever they were written in.
struct KeysAsFnuz : logits::Ragged {
  struct Traits : Shipped {
    __device__ static float key_value(uint32_t byte, int32_t) {
      return fp8_value(byte, EXACTK_FP8_FNUZ);
    }
  };
  static constexpr const char* kName = "mutant.keys_as_fnuz";
};

// F21: -0, which is the NaN of the other flavour, becomes the smallest negative number.
struct NegativeZeroRewritten : logits::Ragged {
  struct Traits : Shipped {
    __device__ static float key_value(uint32_t byte, int32_t flavour) {
      return fp8_value(byte == 0x80 ? 0x81 : byte, flavour);
    }
  };
  static constexpr const char* kName = "mutant.negative_zero_rewritten";
};

// F24: the last head has the weight of the one before it.
struct NeighbourWeight : logits::Ragged {
  struct Traits : Shipped {
    __device__ static float weight(const float* weights, int64_t head, int64_t heads) {
      return weights[head > 0 && head + 1 == heads ? head - 1 : head];
    }
  };
  static constexpr const char* kName = "mutant.neighbour_weight";
};

// F24: heads beyond the last group of four are not summed.
struct LastHeadsDropped : logits::Ragged {
  struct Traits : Shipped {
    __device__ static int64_t heads(int64_t heads) {
      return heads < 4 ? heads : rounded_down(heads, 4);
    }
  };
  static constexpr const char* kName = "mutant.last_heads_dropped";
};

// F21: negative dots count.
struct ReluMissing : logits::Ragged {
  struct Traits : Shipped {
    __device__ static float activated(float dot, float) { return dot; }
  };
  static constexpr const char* kName = "mutant.relu_missing";
};

// F21: relu sees the dot with its scale, which may be negative.
struct ScaleBeforeRelu : logits::Ragged {
  struct Traits : Shipped {
    __device__ static float activated(float dot, float scale) {
      return Shipped::activated(dot * scale, 1);
    }
    __device__ static float scaled(float sum, float) { return sum; }
  };
  static constexpr const char* kName = "mutant.scale_before_relu";
};

// F03: the larger of a NaN and 0 is 0.
struct NanSwallowed : logits::Ragged {
  struct Traits : Shipped {
    __device__ static float activated(float dot, float) { return dot > 0 ? dot : 0; }
  };
  static constexpr const char* kName = "mutant.nan_swallowed";
};

// F02: dots are rounded to bfloat16 before they are summed.
struct DotsInBf16 : logits::Ragged {
  struct Traits : Shipped {
    __device__ static float activated(float dot, float) {
      const float kept = Shipped::activated(dot, 1);
      const uint32_t bits = __float_as_uint(kept);
      const uint32_t even = bits >> 16 & 1;
      return kept != kept ? kept : __uint_as_float((bits + 0x7fff + even) & 0xffff0000u);
    }
  };
  static constexpr const char* kName = "mutant.dots_in_bf16";
};

// F05: a tile that the row does not fill is not computed.
struct PartialTileSkipped : logits::Ragged {
  struct Traits : Shipped {
    __device__ static int64_t computed_end(const exactk_mqa_logits&, int64_t end) {
      return rounded_down(end, logits::kTile);
    }
  };
  static constexpr const char* kName = "mutant.partial_tile_skipped";
};

// F05: a compressed row holds key n in column n.
struct StartNotSubtracted : logits::Ragged {
  struct Traits : Shipped {
    __device__ static int64_t first_key(const exactk_mqa_logits&, int64_t) { return 0; }
  };
  static constexpr const char* kName = "mutant.start_not_subtracted";
};

// F07: a bound past 2^31 is negative, so taken for 0.
struct SignedBounds : logits::Ragged {
  struct Traits : Shipped {
    __device__ static int64_t bound(int32_t bound, int64_t key_count) {
      return bound < 0 ? 0 : Shipped::bound(bound, key_count);
    }
  };
  static constexpr const char* kName = "mutant.signed_bounds";
};

// F09: tiles without a column of the row keep what they held.
struct OnlyTouchedTilesCleaned : logits::Ragged {
  struct Traits : Shipped {
    __device__ static bool cleans_all_tiles() { return false; }
  };
  static constexpr const char* kName = "mutant.only_touched_tiles_cleaned";
};

// F20: a tile is stored whole. No further than the next row, so that it stays in the buffer.
struct StoresPastWidth : logits::Ragged {
  struct Traits : Shipped {
    template <class Descriptor>
    __device__ static int64_t store_end(const Descriptor& d, int64_t row) {
      const int64_t next_row_end = d.out_stride_elems + d.width;
      const int64_t end = rounded_up(d.width, logits::kTile);
      return row + 1 == d.rows ? d.width : end < next_row_end ? end : next_row_end;
    }
  };
  static constexpr const char* kName = "mutant.stores_past_width";
};

// F20: weights of rows are taken to lie one behind the other.
struct WeightWidthIsStride : logits::Ragged {
  struct Traits : Shipped {
    static exactk_mqa_logits adapted(exactk_mqa_logits d) {
      d.weight_stride_elems = d.heads;
      return d;
    }
  };
  static constexpr const char* kName = "mutant.weight_width_is_stride";
};

// F11: without the barrier that keeps the staged numbers until all have read them.
struct StageNotAwaited : logits::Ragged {
  struct Traits : Shipped {
    __device__ static void await_readers() {}
  };
  static constexpr const char* kName = "mutant.stage_not_awaited";
};

// F21: the cache is taken to be OCP's flavour.
struct CacheAsFn : logits::Paged {
  struct Traits : Shipped {
    __device__ static float key_value(uint32_t byte, int32_t) {
      return fp8_value(byte, EXACTK_FP8_FN);
    }
  };
  static constexpr const char* kName = "mutant.cache_as_fn";
};

// F05: a block that the row does not fill is not computed.
struct PartialBlockSkipped : logits::Paged {
  struct Traits : Shipped {
    __device__ static int64_t computed_end(const exactk_mqa_logits_paged& d, int64_t end) {
      return rounded_down(end, d.block_size);
    }
  };
  static constexpr const char* kName = "mutant.partial_block_skipped";
};

// F05: the last block of a row is computed to its end, stale keys and all.
struct BlockRoundedUp : logits::Paged {
  struct Traits : Shipped {
    __device__ static int64_t computed_end(const exactk_mqa_logits_paged& d, int64_t end) {
      const int64_t whole = rounded_up(end, d.block_size);
      return whole < d.width ? whole : d.width;
    }
  };
  static constexpr const char* kName = "mutant.block_rounded_up";
};

// F05: a row that fills its last block lacks that block's last key.
struct BlockEdgeLate : logits::Paged {
  struct Traits : Shipped {
    __device__ static int64_t computed_end(const exactk_mqa_logits_paged& d, int64_t end) {
      return end > 0 && end % d.block_size == 0 ? end - 1 : end;
    }
  };
  static constexpr const char* kName = "mutant.block_edge_late";
};

// F13: no row is longer than the longest one was when the host called.
struct LengthFrozen : logits::Paged {
  struct Traits : Shipped {
    __device__ static int64_t computed_end(const exactk_mqa_logits_paged& d, int64_t end) {
      return end < d.max_seq_len_hint ? end : d.max_seq_len_hint;
    }
  };
  static constexpr const char* kName = "mutant.length_frozen";
};

// F08: all drafts of a request see what its last one sees.
struct FutureTrusted : logits::Paged {
  struct Traits : Shipped {
    __device__ static int64_t length(const exactk_mqa_logits_paged& d, int64_t row) {
      return Shipped::length(d, row - row % d.next_n + d.next_n - 1);
    }
  };
  static constexpr const char* kName = "mutant.future_trusted";
};

// F08: a length per row is read as one per request.
struct RowLengthsPerRequest : logits::Paged {
  struct Traits : Shipped {
    static exactk_mqa_logits_paged adapted(exactk_mqa_logits_paged d) {
      d.seq_lens_dim = 1;
      return d;
    }
  };
  static constexpr const char* kName = "mutant.row_lengths_per_request";
};

// F22: keys have the scales of the block behind theirs in the table; behind the row's last block
// that is a stale entry.
struct ScaleOfNextBlock : logits::Paged {
  struct Traits : Shipped {
    __device__ static float scale(const exactk_mqa_logits_paged& d, const uint8_t* block,
                                  int64_t offset, const int32_t* table, int64_t entry) {
      const int64_t next = entry + 1 < d.table_blocks ? table[entry + 1] : -1;
      const uint8_t* wrong = d.cache + next * d.block_stride_bytes;
      const bool there = next >= 0 && next < d.blocks;
      return Shipped::scale(d, there ? wrong : block, offset, table, entry);
    }
  };
  static constexpr const char* kName = "mutant.scale_of_next_block";
};

// F20: every scale is read behind its own key, not behind all keys of the block.
struct ScalesInterleaved : logits::Paged {
  struct Traits : Shipped {
    __device__ static float scale(const exactk_mqa_logits_paged& d, const uint8_t* block,
                                  int64_t offset, const int32_t*, int64_t) {
      return __uint_as_float(logits::word_at(block + offset * (d.dim + 4) + d.dim, 4));
    }
  };
  static constexpr const char* kName = "mutant.scales_interleaved";
};

// F20: rows of the block table are taken to lie one behind the other.
struct PageTableWidthIsStride : logits::Paged {
  struct Traits : Shipped {
    static exactk_mqa_logits_paged adapted(exactk_mqa_logits_paged d) {
      d.table_stride_elems = d.table_blocks;
      return d;
    }
  };
  static constexpr const char* kName = "mutant.page_table_width_is_stride";
};

// F20: all columns of a tile are taken to lie in the block of its first one.
struct OneBlockPerTile : logits::Paged {
  struct Traits : Shipped {
    __device__ static int64_t table_entry(int64_t, int64_t tile, int64_t block_size) {
      return tile / block_size;
    }
  };
  static constexpr const char* kName = "mutant.one_block_per_tile";
};

const exactk_kernel kScaleDoubled =
    describe<ScaleDoubled>("mqa.tiles whose logits are twice what they should be.");
const exactk_kernel kKeysAsFnuz = describe<KeysAsFnuz>("mqa.tiles that takes keys for FNUZ.");
const exactk_kernel kNegativeZeroRewritten =
    describe<NegativeZeroRewritten>("mqa.tiles that takes -0 for the smallest negative number.");
const exactk_kernel kNeighbourWeight =
    describe<NeighbourWeight>("mqa.tiles whose last head has the weight of the one before it.");
const exactk_kernel kLastHeadsDropped =
    describe<LastHeadsDropped>("mqa.tiles without the heads beyond the last group of four.");
const exactk_kernel kReluMissing = describe<ReluMissing>("mqa.tiles without relu.");
const exactk_kernel kScaleBeforeRelu =
    describe<ScaleBeforeRelu>("mqa.tiles that scales before relu.");
const exactk_kernel kNanSwallowed = describe<NanSwallowed>("mqa.tiles whose relu makes NaN to 0.");
const exactk_kernel kDotsInBf16 = describe<DotsInBf16>("mqa.tiles that rounds dots to bfloat16.");
const exactk_kernel kPartialTileSkipped = describe<PartialTileSkipped>(
    "mqa.tiles without the columns of a tile that the row does not fill.");
const exactk_kernel kStartNotSubtracted =
    describe<StartNotSubtracted>("mqa.tiles that does not compress rows.");
const exactk_kernel kSignedBounds =
    describe<SignedBounds>("mqa.tiles that reads the bounds of rows as signed.");
const exactk_kernel kOnlyTouchedTilesCleaned =
    describe<OnlyTouchedTilesCleaned>("mqa.tiles that cleans only where it has stored.");
const exactk_kernel kStoresPastWidth =
    describe<StoresPastWidth>("mqa.tiles that stores whole tiles.");
const exactk_kernel kWeightWidthIsStride = describe<WeightWidthIsStride>(
    "mqa.tiles that takes the number of heads for the stride of the weights.");
const exactk_kernel kStageNotAwaited = describe<StageNotAwaited>(
    "mqa.tiles without the barrier between reading staged numbers and staging the next.");
const exactk_kernel kCacheAsFn =
    describe<CacheAsFn>("mqa.paged_tiles that takes the cache for OCP's flavour.");
const exactk_kernel kPartialBlockSkipped =
    describe<PartialBlockSkipped>("mqa.paged_tiles without the block that the row does not fill.");
const exactk_kernel kBlockRoundedUp =
    describe<BlockRoundedUp>("mqa.paged_tiles that computes the last block of a row to its end.");
const exactk_kernel kBlockEdgeLate = describe<BlockEdgeLate>(
    "mqa.paged_tiles without the last key of a row that ends with a block.");
const exactk_kernel kLengthFrozen =
    describe<LengthFrozen>("mqa.paged_tiles whose rows are no longer than they were at capture.");
const exactk_kernel kFutureTrusted =
    describe<FutureTrusted>("mqa.paged_tiles whose drafts all see what the last one sees.");
const exactk_kernel kRowLengthsPerRequest = describe<RowLengthsPerRequest>(
    "mqa.paged_tiles that reads lengths of rows as lengths of requests.");
const exactk_kernel kScaleOfNextBlock =
    describe<ScaleOfNextBlock>("mqa.paged_tiles with the scales of the next block of the table.");
const exactk_kernel kScalesInterleaved =
    describe<ScalesInterleaved>("mqa.paged_tiles that reads each scale behind its key.");
const exactk_kernel kPageTableWidthIsStride = describe<PageTableWidthIsStride>(
    "mqa.paged_tiles that takes the width of the block table for its stride.");
const exactk_kernel kOneBlockPerTile = describe<OneBlockPerTile>(
    "mqa.paged_tiles that reads one entry of the block table for a tile.");

#define EXACTK_MQA "logits.mqa rows=3 width=150 index_heads=6 index_dim=32 numbers=integers:3 "
#define EXACTK_PAGED                                                                     \
  "logits.mqa_paged rows=4 next_n=2 width=150 index_heads=6 index_dim=32 block_size=16 " \
  "numbers=integers:3 "

const Mutant kMutants[] = {
    {&kScaleDoubled, "mqa.tiles", "F21", EXACTK_MQA "lens=const:100"},
    {&kKeysAsFnuz, "mqa.tiles", "F21", EXACTK_MQA "lens=const:100"},
    {&kNegativeZeroRewritten, "mqa.tiles", "F21", EXACTK_MQA "lens=const:100"},
    {&kNeighbourWeight, "mqa.tiles", "F24", EXACTK_MQA "lens=const:100"},
    {&kLastHeadsDropped, "mqa.tiles", "F24", EXACTK_MQA "lens=const:100"},
    {&kReluMissing, "mqa.tiles", "F21", EXACTK_MQA "lens=const:100"},
    {&kScaleBeforeRelu, "mqa.tiles", "F21", EXACTK_MQA "lens=const:100 scales=hostile"},
    {&kNanSwallowed, "mqa.tiles", "F03", EXACTK_MQA "lens=const:100 specials=200"},
    {&kDotsInBf16, "mqa.tiles", "F02",
     "logits.mqa rows=3 width=150 index_heads=6 index_dim=32 lens=const:100 numbers=uniform"},
    {&kPartialTileSkipped, "mqa.tiles", "F05", EXACTK_MQA "lens=const:100"},
    {&kStartNotSubtracted, "mqa.tiles", "F05",
     EXACTK_MQA "lens=const:100 starts=const:20 compressed=1"},
    {&kSignedBounds, "mqa.tiles", "F07", EXACTK_MQA "lens=const:100 starts=end"},
    {&kOnlyTouchedTilesCleaned, "mqa.tiles", "F09",
     EXACTK_MQA "lens=const:20 starts=zero outside=clean"},
    {&kStoresPastWidth, "mqa.tiles", "F20",
     EXACTK_MQA "lens=const:100 outside=clean out_stride=160"},
    {&kWeightWidthIsStride, "mqa.tiles", "F20", EXACTK_MQA "lens=const:100"},
    {&kStageNotAwaited, "mqa.tiles", "F11",
     "logits.mqa rows=3 width=150 index_heads=6 index_dim=256 lens=const:100 numbers=integers:2", 0,
     true},
    {&kCacheAsFn, "mqa.paged_tiles", "F21", EXACTK_PAGED "lens=const:100 fp8=fnuz"},
    {&kPartialBlockSkipped, "mqa.paged_tiles", "F05",
     EXACTK_PAGED "lens=const:100 outside=untouched"},
    {&kBlockRoundedUp, "mqa.paged_tiles", "F05", EXACTK_PAGED "lens=const:100 outside=untouched"},
    {&kBlockEdgeLate, "mqa.paged_tiles", "F05", EXACTK_PAGED "lens=const:96 outside=untouched"},
    {&kLengthFrozen, "mqa.paged_tiles", "F13",
     EXACTK_PAGED "lens=const:20 launch=graph replays=1 replay_lens=list:100"},
    {&kFutureTrusted, "mqa.paged_tiles", "F08", EXACTK_PAGED "lens=const:100 outside=untouched"},
    {&kRowLengthsPerRequest, "mqa.paged_tiles", "F08",
     EXACTK_PAGED "lens=list:30:100 lens_dim=2 outside=clean"},
    {&kScaleOfNextBlock, "mqa.paged_tiles", "F22", EXACTK_PAGED "lens=const:100"},
    {&kScalesInterleaved, "mqa.paged_tiles", "F20", EXACTK_PAGED "lens=const:100"},
    {&kPageTableWidthIsStride, "mqa.paged_tiles", "F20",
     EXACTK_PAGED "lens=const:100 table_stride=24"},
    {&kOneBlockPerTile, "mqa.paged_tiles", "F20", EXACTK_PAGED "lens=const:100"},
};

#undef EXACTK_MQA
#undef EXACTK_PAGED

}  // namespace

std::span<const Mutant> logits_mutants() {
  return kMutants;
}

}  // namespace exactk::kernels::planted
