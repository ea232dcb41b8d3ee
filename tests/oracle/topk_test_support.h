// Small helpers of the top-k tests: logits as bits, a counter-hash source of randomness and the
// order of values written out by hand.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <sstream>
#include <string>
#include <vector>

#include "oracle/topk_contract.h"

namespace exactk::oracle {

inline constexpr uint32_t kNegNaN = 0xffc00000u;
inline constexpr uint32_t kPosNaN = 0x7fc00000u;
inline constexpr uint32_t kNegInf = 0xff800000u;
inline constexpr uint32_t kPosInf = 0x7f800000u;
inline constexpr uint32_t kNegZero = 0x80000000u;
inline constexpr uint32_t kPosZero = 0x00000000u;

// One line per class of float32, worst first, no two equal: what the order must be.
inline constexpr uint32_t kAscendingBits[] = {
    0xffffffffu,  // -NaN, largest payload
    0xffc00000u,  // -NaN, quiet
    0xff800001u,  // -NaN, smallest payload
    0xff800000u,  // -infinity
    0xff7fffffu,  // lowest finite
    0xbf800000u,  // -1
    0x80800000u,  // largest negative normal
    0x807fffffu,  // lowest denormal
    0x80000001u,  // largest negative denormal
    0x80000000u,  // -0
    0x00000000u,  // +0
    0x00000001u,  // smallest denormal
    0x007fffffu,  // largest denormal
    0x00800000u,  // smallest normal
    0x3f800000u,  // 1
    0x3f800001u,  // 1 and one ulp
    0x7f7fffffu,  // largest finite
    0x7f800000u,  // +infinity
    0x7f800001u,  // +NaN, smallest payload
    0x7fc00000u,  // +NaN, quiet
    0x7fffffffu,  // +NaN, largest payload
};

inline uint32_t bits_of(float value) {
  return std::bit_cast<uint32_t>(value);
}

inline std::vector<uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<uint32_t> bits;
  for (const float value : values) {
    bits.push_back(bits_of(value));
  }
  return bits;
}

// Reproducible numbers: the n-th draw of a seed never changes.
class Draws {
 public:
  explicit Draws(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  uint32_t bits() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return static_cast<uint32_t>(x >> 32);
  }
  int64_t below(int64_t end) { return static_cast<int64_t>(bits() % static_cast<uint64_t>(end)); }

 private:
  uint64_t state_;
};

inline RowJudgement judge_row(const std::vector<uint32_t>& logit_bits,
                              const std::vector<int32_t>& indices, ContractModes promised,
                              const std::vector<int32_t>& before = {}) {
  TopkJudge judge(static_cast<int64_t>(logit_bits.size()));
  return judge.judge({logit_bits, indices, before}, promised);
}

inline FaultSet faults_of(std::initializer_list<FaultKind> kinds) {
  FaultSet faults;
  for (const FaultKind kind : kinds) {
    faults.add(kind);
  }
  return faults;
}

// "modes: position kind<other, ... missing columns" of a judgement, for failure messages and for
// comparing whole explanations at once.
inline std::string describe(const RowJudgement& judgement) {
  std::ostringstream text;
  const char* joint = "";
  for (const ContractMode mode : {kSet, kPrefix, kOrdered, kStable, kRepeatable}) {
    if ((judgement.broken & mode) != 0) {
      text << joint << name(mode);
      joint = "+";
    }
  }
  text << ":";
  for (const BadSlot& slot : judgement.bad) {
    text << " " << slot.position << " " << name(slot.kind);
    if (slot.other >= 0) {
      text << "<" << slot.other;
    }
    text << ",";
  }
  text << " missing";
  for (const int64_t column : judgement.missing) {
    text << " " << column;
  }
  return text.str();
}

}  // namespace exactk::oracle
