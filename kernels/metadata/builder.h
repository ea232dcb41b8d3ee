// The metadata of sparse MLA attention as a serving engine builds it: buffers that stay where they
// are for as long as graphs may read them, in which every step changes as little as it has to, and
// a work plan that is kept while nothing that it depends on changes.
//
// Every token is a sequence of its own; oracle/mla_metadata.h has what the buffers must hold. Of a
// step with T tokens:
//   - qo_indptr and last_page_len are written once, and never again;
//   - req_id_per_token and kv_indices are cleared between the end of this step and that of the one
//     before, where that was longer; below T * k kv_indices is left to the layers;
//   - kv_indptr is written whole: the running sum of the lengths, then its last value.
//
// The plan depends on the lengths of all tokens and on the heads alone, so these are the key of the
// plan that is there. The host often has no lengths, or only upper bounds, or those of an earlier
// step. Lengths of the host are used if they are of this step and fix what every token sees;
// otherwise the device is asked, the plan made anew, and nothing is kept.
//
// A planted fault is a builder that overrides one of the protected functions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/device/buffer.h"
#include "kernels/device/device.h"
#include "kernels/metadata/plan.h"

namespace exactk::kernels::metadata {

struct MlaShape {
  int64_t tokens_max = 0;  // of a step, >= 1
  int64_t k = 0;           // slots of a token, >= 1
  int64_t workers = 0;     // >= 1
};

// What a host knows of the sequence lengths without asking the device.
struct HostLengths {
  std::span<const int32_t> seq_lens;  // [requests], upper bounds
  int64_t slack = 0;                  // a length is at most so much below its bound, >= 0
  int64_t step = 0;                   // that they are of
};

struct MlaStep {
  int64_t number = 0;                   // another one for every step
  std::span<const int32_t> query_lens;  // [requests], >= 0
  const int32_t* seq_lens = nullptr;    // [requests], on the device; below 0 is as 0
  std::optional<HostLengths> host_lengths = {};
  int64_t heads = 0;  // >= 1
};

// Device pointers, the same ones after every step; sizes as in oracle/mla_metadata.h and PlanSizes.
struct MlaMetadata {
  const int32_t* req_id_per_token = nullptr;
  const int32_t* qo_indptr = nullptr;
  const int32_t* last_page_len = nullptr;
  int32_t* kv_indices = nullptr;  // which layers fill
  const int32_t* kv_indptr = nullptr;
  PlanArrays plan;
  int64_t tokens = 0;
  bool plan_reused = false;
};

struct BuilderSetup {
  Device* device = nullptr;  // outlives the builder
  MlaShape shape;
  PlanFunction plan = nullptr;  // nullptr: plan_serially()
  void* stream = nullptr;       // of the planner
};

class MlaBuilder {
 public:
  // Allocates and fills what never changes. `Builder` is MlaBuilder or derived from it.
  template <class Builder = MlaBuilder>
  static Result<std::unique_ptr<MlaBuilder>> make(const BuilderSetup& setup) {
    std::unique_ptr<MlaBuilder> builder(new Builder(setup));
    const Result<void> ready = builder->allocate();
    if (!ready) return tl::unexpected(ready.error());
    return builder;
  }
  virtual ~MlaBuilder() = default;

  // Nothing that reads the buffers may be under way, and the device lengths must be there. The plan
  // may still be on its way on the stream afterwards. An error changes nothing that a later build
  // does not put right.
  virtual Result<MlaMetadata> build(const MlaStep& step);

  // Empty, or one sentence: memory beside a buffer that was written.
  Result<std::string> damage() const;

 protected:
  explicit MlaBuilder(const BuilderSetup& setup) : setup_(setup) {}

  enum Buffer {
    kRequests,
    kQoIndptr,
    kLastPage,
    kIndices,
    kIndptr,
    kWorkIndptr,
    kWorkInfo,
    kReduceIndptr,
    kReduceFinalMap,
    kReducePartialMap,
    kBuffers
  };
  using Ints = std::vector<int32_t>;
  using Key = std::vector<int64_t>;

  struct TokenPlace {
    int64_t seq_len, query_len, offset;  // of its request; its place in the query
  };
  // What a key may be made of.
  struct Facts {
    const MlaStep& step;
    std::span<const int32_t> seq_lens;  // as used, [requests]
    std::span<const int32_t> lengths;   // of the tokens
    bool lengths_known;                 // to the host
  };

  virtual bool lengths_known(const MlaStep& step) const;
  virtual int64_t length(const TokenPlace& token) const;
  virtual std::optional<Key> key_of(const Facts& facts) const;  // none: not to be found again
  virtual void remember(std::optional<Key> key) { planned_ = std::move(key); }
  virtual bool writes_requests(bool plan_reused) const;
  // Up to where a buffer is cleared that ended at `before` in the last step and at `now` in this.
  virtual int64_t requests_end(int64_t now, int64_t before) const;
  virtual int64_t indices_end(int64_t now, int64_t before) const;
  virtual Ints indptr_of(std::span<const int32_t> lengths) const;  // what is written of kv_indptr

  static Ints running_sum(std::span<const int32_t> lengths);  // [lengths + 1]
  const MlaShape& shape() const { return setup_.shape; }
  Result<void> write(Buffer buffer, int64_t first, std::span<const int32_t> values);
  Device& device() const { return *setup_.device; }
  GuardedBuffer& memory(Buffer buffer) { return buffers_[buffer]; }

 private:
  Result<void> allocate();
  std::string problem_of(const MlaStep& step) const;
  Result<Ints> read_seq_lens(const MlaStep& step) const;
  Result<void> write_buffers(std::span<const int32_t> requests, std::span<const int32_t> lengths,
                             bool plan_reused);
  Result<void> clear(Buffer buffer, int64_t begin, int64_t end);
  Result<void> plan(int64_t heads, std::span<const int32_t> lengths);
  Result<void> plan_on_host(const PlanShape& shape, std::span<const int32_t> kv_indptr);
  int64_t elements(Buffer buffer) const;
  int32_t* data(Buffer buffer) const;
  PlanArrays plan_arrays() const;

  BuilderSetup setup_;
  std::vector<GuardedBuffer> buffers_;  // by Buffer
  std::vector<Ints> host_plan_;         // of plan_on_host(): the plan's buffers as they are
  int64_t tokens_before_ = 0;
  std::optional<Key> planned_;  // of the plan that is there
};

}  // namespace exactk::kernels::metadata
