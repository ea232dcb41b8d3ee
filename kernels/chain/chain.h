// A chain of two kernels of the C interface as one: the top-k, then the mapping of its indices, on
// the top-k's stream. Host code alone; the members launch what runs.
//
// A `Chain` derives from DecodeChain or PrefillChain and names itself and its members: { static
// constexpr const char* kName; static constexpr const exactk_kernel* kTopk, *kMapping; }.
#pragma once

#include <cstdint>
#include <cstdio>

#include "kernels/abi/exactk_abi.h"
#include "kernels/chain/shares.h"

namespace exactk::kernels::chain {

struct DecodeChain {
  using Topk = exactk_topk_decode;
  using Mapping = exactk_translate;
  static constexpr const char* kOp = "chain.decode";
  static constexpr const char* kMembers = "a decode and a translate descriptor";
  static constexpr uint32_t kModes = EXACTK_MODE_KERNELS_ONLY;
  static const Topk* topk(const exactk_chain& c) { return c.decode; }
  static const Mapping* mapping(const exactk_chain& c) { return c.translate; }
  static const int32_t* indices_of(const Mapping& m) { return m.indices; }
};

struct PrefillChain {
  using Topk = exactk_topk_prefill;
  using Mapping = exactk_combine;
  static constexpr const char* kOp = "chain.prefill";
  static constexpr const char* kMembers = "a prefill and a combine descriptor";
  static constexpr uint32_t kModes = EXACTK_MODE_KERNELS_ONLY;
  static const Topk* topk(const exactk_chain& c) { return c.prefill; }
  static const Mapping* mapping(const exactk_chain& c) { return c.combine; }
  static const int32_t* indices_of(const Mapping& m) { return m.topk_indices; }
};

inline const exactk_chain& chain_of(const void* descriptor) {
  return *static_cast<const exactk_chain*>(descriptor);
}

// What the members get: the caller's descriptors, with the workspace divided.
template <class Chain>
struct Stages {
  typename Chain::Topk topk;
  typename Chain::Mapping mapping;
};

template <class Chain>
Stages<Chain> stages_of(const exactk_chain& c) {
  Stages<Chain> stages{*Chain::topk(c), *Chain::mapping(c)};
  Shares shares(stages.topk);
  shares.give(*Chain::kTopk, stages.topk);
  shares.give(*Chain::kMapping, stages.mapping);
  return stages;
}

template <class Chain>
bool has_members(const exactk_chain& c) {
  return Chain::topk(c) != nullptr && Chain::mapping(c) != nullptr;
}

// EXACTK_ERROR and one sentence unless the chain is one.
template <class Chain>
exactk_status check(const exactk_chain& c, char* text, size_t bytes) {
  if (!has_members<Chain>(c)) {
    std::snprintf(text, bytes, "%s needs %s; got one or none", Chain::kName, Chain::kMembers);
    return EXACTK_ERROR;
  }
  if (Chain::indices_of(*Chain::mapping(c)) != Chain::topk(c)->indices) {
    std::snprintf(text, bytes,
                  "%s needs a mapping of the indices that its top-k writes; got others",
                  Chain::kName);
    return EXACTK_ERROR;
  }
  return EXACTK_OK;
}

template <class Chain>
exactk_status supports(const void* descriptor, char* text, size_t bytes) {
  const exactk_chain& c = chain_of(descriptor);
  exactk_status status = check<Chain>(c, text, bytes);
  if (status == EXACTK_OK) {
    status = Chain::kTopk->supports(Chain::topk(c), text, bytes);
  }
  return status == EXACTK_OK ? Chain::kMapping->supports(Chain::mapping(c), text, bytes) : status;
}

template <class Chain>
int64_t workspace_bytes(const void* descriptor) {
  const exactk_chain& c = chain_of(descriptor);
  return has_members<Chain>(c) ? share_of(*Chain::kTopk, Chain::topk(c)) +
                                     share_of(*Chain::kMapping, Chain::mapping(c))
                               : 0;
}

template <class Chain>
exactk_status launch(const void* descriptor, char* text, size_t bytes) {
  const exactk_chain& c = chain_of(descriptor);
  if (const exactk_status status = check<Chain>(c, text, bytes); status != EXACTK_OK) {
    return status;
  }
  const Stages<Chain> stages = stages_of<Chain>(c);
  const exactk_status status = Chain::kTopk->launch(&stages.topk, text, bytes);
  return status == EXACTK_OK ? Chain::kMapping->launch(&stages.mapping, text, bytes) : status;
}

template <class Chain>
exactk_kernel describe(const char* description) {
  return {sizeof(exactk_kernel),
          Chain::kModes,
          Chain::kName,
          Chain::kOp,
          description,
          &supports<Chain>,
          &workspace_bytes<Chain>,
          &launch<Chain>,
          EXACTK_NAN_ORDERED,
          0,
          {}};
}

}  // namespace exactk::kernels::chain
