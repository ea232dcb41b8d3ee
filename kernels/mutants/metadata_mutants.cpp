#include "kernels/mutants/metadata_mutants.h"

#include <algorithm>

namespace exactk::kernels::planted {
namespace {

using metadata::BuilderSetup;
using metadata::HostLengths;
using metadata::MlaBuilder;
using metadata::MlaMetadata;
using metadata::MlaStep;
using metadata::Variant;

int64_t tokens_of(std::span<const int32_t> query_lens) {
  int64_t tokens = 0;
  for (const int32_t query_len : query_lens) tokens += query_len;
  return tokens;
}

// F22: the published key. Neither the order of the query lengths nor where a query lies in its
// sequence is part of it.
struct KeyPublished : MlaBuilder {
  using MlaBuilder::MlaBuilder;
  std::optional<Key> key_of(const Facts& f) const override {
    if (!f.lengths_known) return std::nullopt;
    int64_t query_max = 0;
    for (const int32_t query_len : f.step.query_lens)
      query_max = std::max<int64_t>(query_max, query_len);
    Key key{tokens_of(f.step.query_lens), query_max, f.step.heads};
    for (const int32_t seq_len : f.seq_lens) key.push_back(std::min<int64_t>(seq_len, shape().k));
    return key;
  }
};

// F22: the first family of it alone: query lengths in another order.
struct KeyWithoutOrder : MlaBuilder {
  using MlaBuilder::MlaBuilder;
  std::optional<Key> key_of(const Facts& f) const override {
    if (!f.lengths_known) return std::nullopt;
    std::vector<int32_t> query_lens(f.step.query_lens.begin(), f.step.query_lens.end());
    std::sort(query_lens.begin(), query_lens.end());
    Key key{f.step.heads};
    key.insert(key.end(), query_lens.begin(), query_lens.end());
    key.insert(key.end(), f.seq_lens.begin(), f.seq_lens.end());
    return key;
  }
};

// F22: the second family alone: a first chunk and a later one, both at least k long.
struct KeyOfClampedLengths : MlaBuilder {
  using MlaBuilder::MlaBuilder;
  std::optional<Key> key_of(const Facts& f) const override {
    if (!f.lengths_known) return std::nullopt;
    Key key{f.step.heads};
    key.insert(key.end(), f.step.query_lens.begin(), f.step.query_lens.end());
    for (const int32_t seq_len : f.seq_lens) key.push_back(std::min<int64_t>(seq_len, shape().k));
    return key;
  }
};

// F22: the plan outlives a change of the heads, which decide how many workers run.
struct KeyWithoutHeads : MlaBuilder {
  using MlaBuilder::MlaBuilder;
  std::optional<Key> key_of(const Facts& f) const override {
    auto key = MlaBuilder::key_of(f);
    if (key) key->erase(key->begin() + 1);
    return key;
  }
};

// F22: where the host has no lengths, steps of as many tokens and heads count as the same.
struct HitWithoutLengths : MlaBuilder {
  using MlaBuilder::MlaBuilder;
  std::optional<Key> key_of(const Facts& f) const override {
    if (f.lengths_known) return MlaBuilder::key_of(f);
    return Key{tokens_of(f.step.query_lens), f.step.heads};
  }
};

// F22: the key stays when a plan that has none takes the place of its plan.
struct KeyKept : MlaBuilder {
  using MlaBuilder::MlaBuilder;
  void remember(std::optional<Key> key) override {
    if (key) MlaBuilder::remember(std::move(key));
  }
};

// F15: the host's lengths are taken for those of this step, whatever step they are of.
struct StaleLengths : MlaBuilder {
  using MlaBuilder::MlaBuilder;
  bool lengths_known(const MlaStep& step) const override {
    MlaStep taken = step;
    if (taken.host_lengths) taken.host_lengths->step = step.number;
    return MlaBuilder::lengths_known(taken);
  }
};

// F22: an upper bound is taken for the length.
struct BoundIsLength : MlaBuilder {
  using MlaBuilder::MlaBuilder;
  bool lengths_known(const MlaStep& step) const override {
    MlaStep taken = step;
    if (taken.host_lengths) taken.host_lengths->slack = 0;
    return MlaBuilder::lengths_known(taken);
  }
};

// F22: the requests of the tokens are taken to be those of the plan.
struct RequestsKept : MlaBuilder {
  using MlaBuilder::MlaBuilder;
  bool writes_requests(bool plan_reused) const override { return !plan_reused; }
};

// F09: requests of a longer step before stay behind the end.
struct RequestTailKept : MlaBuilder {
  using MlaBuilder::MlaBuilder;
  int64_t requests_end(int64_t now, int64_t) const override { return now; }
};

// F09: slots of a longer step before stay behind the end.
struct SlotTailKept : MlaBuilder {
  using MlaBuilder::MlaBuilder;
  int64_t indices_end(int64_t now, int64_t) const override { return now; }
};

// F09: sums of a longer step before stay behind the end.
struct IndptrTailKept : MlaBuilder {
  using MlaBuilder::MlaBuilder;
  Ints indptr_of(std::span<const int32_t> lengths) const override { return running_sum(lengths); }
};

// F22: the running sum is added up where the count of each row is wanted.
struct IndptrOfSums : MlaBuilder {
  using MlaBuilder::MlaBuilder;
  Ints indptr_of(std::span<const int32_t> lengths) const override {
    const Ints sums = running_sum(lengths);
    Ints indptr = running_sum(std::span(sums).subspan(1));
    indptr.resize(static_cast<size_t>(shape().tokens_max) + 1, indptr.back());
    return indptr;
  }
};

// F08: every token sees all of its sequence.
struct OffsetIgnored : MlaBuilder {
  using MlaBuilder::MlaBuilder;
  int64_t length(const TokenPlace& token) const override {
    return std::clamp<int64_t>(token.seq_len, 0, shape().k);
  }
};

// F07: a sequence shorter than its query has lengths below 0.
struct NotClamped : MlaBuilder {
  using MlaBuilder::MlaBuilder;
  int64_t length(const TokenPlace& token) const override {
    const int64_t visible = token.seq_len - token.query_len + token.offset + 1;
    return token.seq_len == 0 ? 0 : std::min(visible, shape().k);
  }
};

// F14: a step with more tokens than any before gets new buffers; a graph has the old ones.
struct BuffersMove : MlaBuilder {
  using MlaBuilder::MlaBuilder;
  Result<MlaMetadata> build(const MlaStep& step) override {
    const int64_t tokens = tokens_of(step.query_lens);
    if (tokens > most_ && most_ > 0) {
      for (const Buffer buffer : {kRequests, kIndptr, kIndices}) {
        if (auto done = replace(buffer); !done) return tl::unexpected(done.error());
      }
    }
    most_ = std::max(most_, tokens);
    return MlaBuilder::build(step);
  }

 private:
  Result<void> replace(Buffer buffer) {
    Ints values(static_cast<size_t>(memory(buffer).bytes()) / sizeof(int32_t));
    auto done = memory(buffer).download(std::as_writable_bytes(std::span(values)));
    if (!done) return done;
    auto made = GuardedBuffer::make(device(), memory(buffer).bytes());
    if (!made) return tl::unexpected(made.error());
    std::swap(memory(buffer), *made);
    old_.push_back(std::move(*made));
    return write(buffer, 0, values);
  }

  int64_t most_ = 0;
  std::vector<GuardedBuffer> old_;
};

// F15: the planner runs on a stream that nobody waits for.
Result<std::unique_ptr<MlaBuilder>> make_on_other_stream(const BuilderSetup& setup) {
  BuilderSetup other = setup;
  other.stream = setup.device->stream(2);
  return MlaBuilder::make<>(other);
}

template <class Builder>
constexpr Variant faulty(std::string_view name, std::string_view kind, std::string_view description,
                         std::string_view program) {
  return {name, "parallel", description, &MlaBuilder::make<Builder>, "mla.parallel", kind, program};
}

constexpr Variant faulty_planner(std::string_view name, std::string_view planner,
                                 std::string_view kind, std::string_view description,
                                 std::string_view program, bool host_only = false) {
  return {name,           planner, description, &MlaBuilder::make<>,
          "mla.parallel", kind,    program,     host_only};
}

constexpr Variant kMutants[] = {
    faulty<KeyPublished>("mutant.mla_key_published", "F22",
                         "Plans are kept by tokens, longest query, heads and clamped lengths.",
                         "mla k=4 ; build 4/4 ; build 4/100"),
    faulty<KeyWithoutOrder>("mutant.mla_key_without_order", "F22",
                            "The key of a plan has the query lengths in no order.",
                            "mla k=16 ; build 1/10 3/10 ; build 3/10 1/10"),
    faulty<KeyOfClampedLengths>("mutant.mla_key_of_clamped_lengths", "F22",
                                "The key of a plan has sequence lengths up to k.",
                                "mla k=4 ; build 4/4 ; build 4/100"),
    faulty<KeyWithoutHeads>("mutant.mla_key_without_heads", "F22",
                            "The plan outlives a change of the heads.",
                            "mla k=16 workers=2 ; build 2/20 ; heads 32 ; build 2/20"),
    faulty<HitWithoutLengths>("mutant.mla_hit_without_lengths", "F22",
                              "Without lengths the plan before is taken.",
                              "mla k=4 ; build 1/2 host=none ; build 1/4 host=none"),
    faulty<KeyKept>("mutant.mla_key_kept", "F22",
                    "The key of a plan stays when another plan takes its place.",
                    "mla k=4 ; build 1/2 ; build 1/4 host=none ; build 1/2"),
    faulty<StaleLengths>("mutant.mla_stale_lengths", "F15",
                         "Host lengths of the step before are taken for those of this one.",
                         "mla k=4 ; build 1/2 ; build 1/3 host=stale"),
    faulty<BoundIsLength>("mutant.mla_bound_is_length", "F22",
                          "An upper bound of the host is taken for the length.",
                          "mla k=4 ; build 1/2 host=bound:1"),
    faulty<RequestsKept>("mutant.mla_requests_kept", "F22",
                         "With a plan that is reused, the requests of the tokens stay as well.",
                         "mla k=4 ; build 1/4 1/4 ; build 2/9"),
    faulty<RequestTailKept>("mutant.mla_request_tail_kept", "F09",
                            "Requests behind the end of a shorter step are not cleared.",
                            "mla k=4 ; build 1/4 1/4 ; build 1/4"),
    faulty<SlotTailKept>("mutant.mla_slot_tail_kept", "F09",
                         "Slots behind the end of a shorter step are not cleared.",
                         "mla k=4 ; build 1/4 1/4 ; run ; build 1/4"),
    faulty<IndptrTailKept>("mutant.mla_indptr_tail_kept", "F09",
                           "Sums behind the end of a shorter step are not written.",
                           "mla k=4 ; build 1/4 1/4 ; build 1/4"),
    faulty<IndptrOfSums>("mutant.mla_indptr_of_sums", "F22",
                         "The running sum is added up where the count of a row is wanted.",
                         "mla k=4 ; build 2/4"),
    faulty<OffsetIgnored>("mutant.mla_offset_ignored", "F08",
                          "Every token of a query sees all of the sequence.",
                          "mla k=4 ; build 2/2"),
    faulty<NotClamped>("mutant.mla_not_clamped", "F07",
                       "A sequence shorter than its query has lengths below 0.",
                       "mla k=4 ; build 3/1"),
    faulty<BuffersMove>("mutant.mla_buffers_move", "F14",
                        "A longer step than any before gets other buffers.",
                        "mla k=4 ; build 1/4 ; capture ; build 2/4 ; build 1/3 ; replay"),
    {"mutant.mla_plan_not_awaited", "parallel", "The planner runs on another stream.",
     &make_on_other_stream, "mla.parallel", "F15", "mla k=4 ; build 1/4", true},
    faulty_planner("mutant.mla_empty_row_skipped", "empty_row_skipped", "F09",
                   "A row without keys has no work.", "mla k=4 ; build 1/0"),
    faulty_planner("mutant.mla_reduce_tail_kept", "reduce_tail_kept", "F10",
                   "reduce_indptr is not written behind the rows.",
                   "mla k=32 workers=2 ; build 1/32"),
    faulty_planner("mutant.mla_sum_not_awaited", "sum_not_awaited", "F11",
                   "A barrier of the planner's sums is missing.", "mla workers=80 ; build 1/4",
                   true),
    faulty_planner("mutant.mla_heads_not_counted", "heads_not_counted", "F19",
                   "Works are dealt to all workers, however many heads each has.",
                   "mla k=32 workers=2 heads=32 ; build 1/32"),
    faulty_planner("mutant.mla_length_of_sum", "length_of_sum", "F22",
                   "The planner takes the running sum for the length of a row.",
                   "mla k=4 ; build 2/4"),
    faulty_planner("mutant.mla_places_of_row", "places_of_row", "F26",
                   "The partial places of every row begin at 0.",
                   "mla k=32 workers=4 ; build 1/32 1/32"),
};

}  // namespace

std::span<const Variant> metadata_mutants() {
  return kMutants;
}

}  // namespace exactk::kernels::planted
