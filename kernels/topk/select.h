// Exact selection of the best `want` items of a source by one block.
//
// The published threshold search (vLLM sampler.cu): a histogram of 2048 bins finds the bin in which
// the want-th item lies, first over the upper 11 bits of the logit rounded to fp16, then over at
// most three times 11 bits of the order key. As soon as the bin's members fit into a list they are
// listed and ranked; if it takes all bits, what is left are ties bit by bit, and a counter hands
// them the remaining slots. Here a bin is kept as a closed interval of keys and the later steps
// refine that interval, so that one last pass tells every item by two comparisons: better items are
// written once, whatever step the search ended at.
#pragma once

#include "kernels/device/portable.h"

#include <cstdint>

#include "kernels/topk/histogram.h"
#include "kernels/topk/key.h"
#include "kernels/topk/sources.h"

namespace exactk::kernels::topk {

// The state of a search: `members` items have keys in `range`, and the best `need` of them are
// selected, 1 <= need <= members. Items above the range are all selected, items below it are not.
struct Cut {
  KeyRange range;
  uint32_t members;
  uint32_t need;
};

// Which of the members are selected no longer matters: they are bit-identical, or all of them are
// needed.
__device__ inline bool any_member_will_do(const Cut& cut) {
  return cut.range.lo == cut.range.hi || cut.members == cut.need;
}

// Shared memory of a search. Nothing is valid at the start.
struct SearchShared {
  uint32_t histogram[kBins];  // from the barrier after a count to the next clearing
  Cut cut;                    // from the barrier after a search step to the next step's second one
};

// Shared memory of a selecting block.
template <int kCapacity>
struct SelectShared : SearchShared {
  alignas(16) uint32_t list_keys[kCapacity];  // from the barrier after gather() to the end
  int32_t list_indices[kCapacity];            // the same
  uint32_t better;       // slots taken by items above the range; cleared by the coarse step
  uint32_t members;      // list entries or slots taken by members; cleared by the coarse step
  uint32_t list_better;  // the same two counters for the pass over the list
  uint32_t list_members;
};

__device__ inline void clear_histogram(SearchShared& s) {
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    s.histogram[bin] = 0;
  }
}

// Step 0: the coarse bin of the want-th item.
template <int kCapacity, class Source>
__device__ Cut coarse_step(SelectShared<kCapacity>& s, const Source& source, uint32_t want) {
  clear_histogram(s);
  if (threadIdx.x == 0) {
    s.better = s.members = s.list_better = s.list_members = 0;
  }
  __syncthreads();  // everything is cleared before anybody counts
  RunCounter counter(s.histogram);
  uint32_t minus_inf =
      0;  // masked columns come in any order, so that counting runs is not enough for them
  source.for_each([&](uint32_t key, int32_t) {
    if (key == kMinusInfKey) {
      ++minus_inf;
    } else {
      counter.add(coarse_bin(key));
    }
  });
  counter.finish();
  if (minus_inf != 0) {
    atomicAdd(s.histogram + kMinusInfBin, minus_inf);
  }
  __syncthreads();  // all counts are in before the first wave reads them
  if (static_cast<int>(threadIdx.x) < warpSize) {
    const LocatedBin at = locate_bin(s.histogram, want);
    if (threadIdx.x == 0) {
      s.cut = {coarse_range(at.bin), at.members, want - at.above};
    }
  }
  __syncthreads();  // the cut is written before all read it; the histogram is read before it is
                    // cleared again
  return s.cut;
}

// Members of `cut` that share all but this many low bits of their distance from the range's lower
// end are one bin of the next step.
__device__ inline int refine_shift(const Cut& cut) {
  const int bits = 32 - __clz(static_cast<int>(cut.range.hi - cut.range.lo));
  return bits > 11 ? bits - 11 : 0;
}

template <class Source>
__device__ void count_members(SearchShared& s, const Source& source, const Cut& cut, int shift) {
  RunCounter counter(s.histogram);
  source.for_each([&](uint32_t key, int32_t) {
    if (key >= cut.range.lo && key <= cut.range.hi) {
      counter.add((key - cut.range.lo) >> shift);
    }
  });
  counter.finish();
}

// The first wave reads the counts and writes the next cut.
__device__ inline void choose_bin(SearchShared& s, const Cut& cut, int shift) {
  if (static_cast<int>(threadIdx.x) < warpSize) {
    const LocatedBin at = locate_bin(s.histogram, cut.need);
    if (threadIdx.x == 0) {
      const uint32_t lo = cut.range.lo + (at.bin << shift);
      const uint32_t width = (1u << shift) - 1u;
      s.cut = {{lo, cut.range.hi - lo < width ? cut.range.hi : lo + width},
               at.members,
               cut.need - at.above};
    }
  }
}

// One further step: the members of `cut` by the next 11 bits of their distance from the range's
// lower end.
template <class Source>
__device__ Cut refine_step(SearchShared& s, const Source& source, const Cut cut) {
  clear_histogram(s);
  const int shift = refine_shift(cut);
  __syncthreads();  // the histogram is cleared before anybody counts; all have read the former cut
  count_members(s, source, cut, shift);
  __syncthreads();  // all counts are in before the first wave reads them
  choose_bin(s, cut, shift);
  __syncthreads();  // the cut is written before all read it; the histogram is read before it is
                    // cleared again
  return s.cut;
}

// Writes `better` items above the range to the slots from `first_slot` on, and any `cut.need`
// members behind them. Slots are claimed by counter; relaxed order is enough, because only the
// values that the counters return matter.
template <class Source>
__device__ void emit(const Source& source, const Cut& cut, int64_t first_slot, uint32_t better,
                     uint32_t* better_taken, uint32_t* members_taken, const Sink& sink) {
  bool open = true;  // closed once the members' slots ran out, so that many ties cost a thread one
                     // claim too many
  source.for_each([&](uint32_t key, int32_t index) {
    if (key > cut.range.hi) {
      const uint32_t slot = atomicAdd(better_taken, 1u);
      if (slot < better) {
        sink.put(first_slot + slot, key, index);
      }
    } else if (open && key >= cut.range.lo) {
      const uint32_t slot = atomicAdd(members_taken, 1u);
      open = slot < cut.need;
      if (open) {
        sink.put(first_slot + better + slot, key, index);
      }
    }
  });
}

// Writes the items above the range to the first slots and lists the members.
template <int kCapacity, class Source>
__device__ void gather(SelectShared<kCapacity>& s, const Source& source, const Cut& cut,
                       uint32_t better, const Sink& sink) {
  source.for_each([&](uint32_t key, int32_t index) {
    if (key < cut.range.lo) {
      return;
    }
    if (key > cut.range.hi) {
      const uint32_t slot = atomicAdd(&s.better, 1u);
      if (slot < better) {
        sink.put(slot, key, index);
      }
      return;
    }
    const uint32_t entry = atomicAdd(&s.members, 1u);
    if (entry < cut.members) {
      s.list_keys[entry] = key;
      s.list_indices[entry] = index;
    }
  });
}

// How many of list[begin .. end) have at least the key `least`.
__device__ inline uint32_t count_from(const uint32_t* list, uint32_t begin, uint32_t end,
                                      uint32_t least) {
  uint32_t count = 0;
  uint32_t i = begin;
  for (; i < end && i % 4 != 0; ++i) {
    count += list[i] >= least ? 1u : 0u;
  }
  for (; i + 4 <= end; i += 4) {
    const Quad quad = *reinterpret_cast<const Quad*>(list + i);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      count += quad.bits[j] >= least ? 1u : 0u;
    }
  }
  for (; i < end; ++i) {
    count += list[i] >= least ? 1u : 0u;
  }
  return count;
}

// Ranks list entry i among the members, and writes it if it is one of the best `cut.need`. Equal
// keys rank by list entry: every rank is taken exactly once, whatever the values are.
template <int kCapacity>
__device__ void rank_entry(const SelectShared<kCapacity>& s, const Cut& cut, uint32_t i,
                           int64_t first_slot, const Sink& sink) {
  const uint32_t key = s.list_keys[i];
  uint32_t rank = count_from(s.list_keys, 0, i, key);
  if (key != 0xffffffffu) {  // nothing is above the largest key
    rank += count_from(s.list_keys, i + 1, cut.members, key + 1);
  }
  if (rank < cut.need) {
    sink.put(first_slot + rank, key, s.list_indices[i]);
  }
}

// Ranks the listed members by comparison and writes the best `cut.need` to the slots from
// `first_slot` on.
template <int kCapacity>
__device__ void rank_list(const SelectShared<kCapacity>& s, const Cut& cut, int64_t first_slot,
                          const Sink& sink) {
  for (uint32_t i = threadIdx.x; i < cut.members; i += blockDim.x) {
    rank_entry(s, cut, i, first_slot, sink);
  }
}

struct SelectLimits {
  uint32_t list_capacity;    // at most the capacity of the shared memory
  uint32_t insertion_items;  // lists up to this long are ranked by comparison, longer ones by radix
                             // steps
};

// Puts the best `want` items of the source into the slots [0, want) of the sink, in no particular
// order; 1 <= want <= items of the source. All threads of the block call it, once. Traits say how a
// short list is ranked.
template <class Traits, int kCapacity, class Source>
__device__ void select_best(SelectShared<kCapacity>& s, const Source& source, uint32_t want,
                            const SelectLimits& limits, const Sink& sink) {
  Cut cut = coarse_step(s, source, want);
  while (!any_member_will_do(cut) && cut.members > limits.list_capacity) {
    cut = refine_step(s, source, cut);
  }
  const uint32_t better = want - cut.need;
  if (any_member_will_do(cut)) {
    emit(source, cut, 0, better, &s.better, &s.members, sink);
    return;
  }
  gather(s, source, cut, better, sink);
  __syncthreads();  // the list is complete before it is ranked
  if (cut.members <= limits.insertion_items) {
    Traits::rank(s, cut, better, sink);
    return;
  }
  const ListSource list{s.list_keys, s.list_indices, cut.members};
  Cut in_list = cut;
  while (!any_member_will_do(in_list)) {
    in_list = refine_step(s, list, in_list);
  }
  emit(list, in_list, better, cut.need - in_list.need, &s.list_better, &s.list_members, sink);
}

}  // namespace exactk::kernels::topk
