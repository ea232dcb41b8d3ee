// What the runner needs to know of an operation: its tensors, what they hold before a launch, the
// arguments of the call, and the judgement of what a launch left. One class per family of
// operations; nothing else in this layer asks what the operation is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fixtures/case.h"
#include "kernels/abi/exactk_abi.h"
#include "kernels/device/device.h"
#include "oracle/verdict.h"
#include "props/kernel_under_test.h"

namespace exactk::props {

class DeviceFill;
enum class Judge : int32_t;

using Bytes = std::vector<std::byte>;

enum class Role { kInput, kOutput };

struct TensorSpec {
  std::string name;
  Role role{};
  int64_t bytes = 0;  // 0: the call takes no such tensor, its pointer is null
  int64_t misalign_bytes = 0;
};

enum class LogitsFrom { kHost, kDevice };

// What one launch is fed; shared by the kernels and wave widths that run the case.
class StepInputs {
 public:
  virtual ~StepInputs() = default;
  // An input tensor, whole; `tensor` counts among the operation's tensors. Empty where the device
  // fills it.
  virtual std::span<const std::byte> bytes(size_t tensor) const = 0;
  virtual int64_t kept_bytes() const = 0;
  // The part that the logits are made from, where there are others.
  virtual const StepInputs& of_logits() const { return *this; }
};

// Where the tensors of a call lie; null for a tensor of no bytes.
struct Placement {
  std::vector<std::byte*> tensors;
  std::byte* workspace = nullptr;
  int64_t workspace_bytes = 0;
  void* stream = nullptr;
};

// The arguments of a kernel call. Before place() its pointers are null: that is what supports() and
// workspace_bytes() are asked with.
class Call {
 public:
  virtual ~Call() = default;
  virtual void place(const Placement& at) = 0;
  virtual const void* descriptor() const = 0;
  virtual const exactk_topk_report* report() const { return nullptr; }
};

// One launch as it is judged. `after` and `before` hold the outputs by tensor; inputs are empty.
struct Launched {
  int64_t step = 0;  // 0: the first launch
  int variant = 0;   // 0: the case's own poison, 1: the other one
  std::shared_ptr<const StepInputs> inputs;
  bool replayed = false;  // the call was captured before, with what its host knew then
  // Of the launch that captured the call where this is a replay, else of launch 0.
  std::shared_ptr<const StepInputs> first_inputs;
  const std::vector<Bytes>& after;
  const std::vector<Bytes>& before;
  std::span<const uint64_t> row_checksums;  // of the logits that the device filled, or empty
  const Call& call;
};

struct Findings {
  int64_t rows = 0;           // judged
  int64_t rows_selected = 0;  // 0: there was no index to get right
  int64_t rows_cut = 0;       // top-k: with more columns than k
  int64_t elements = 0;       // logits in view, or elements that the contract fixes
  std::string path;           // that the launch reported, "k512 x16"; empty: none
  // Of a broken contract; all empty if it was kept.
  std::string why;      // one sentence
  std::string anatomy;  // lines: failing rows with their bad slots
  std::string broke;    // which promise
  oracle::FaultSet faults;
  std::vector<int64_t> failing_rows;  // rows or tokens, ascending; the first ones, where many fail
  bool ok() const { return why.empty(); }
};

class Operation {
 public:
  Operation(const fixtures::Case& c, const KernelUnderTest& kernel) : case_(c), kernel_(kernel) {}
  virtual ~Operation() = default;

  virtual const std::vector<TensorSpec>& tensors() const = 0;
  virtual std::shared_ptr<const StepInputs> make_inputs(int64_t step, LogitsFrom from) const = 0;
  // What output `tensor` holds before launch `step`, [its bytes].
  virtual Bytes poison(int64_t step, int variant, size_t tensor) const = 0;
  // `launch`: the one whose lengths the host knows when it calls; none: it knows no lengths.
  virtual std::unique_ptr<Call> call(std::optional<int64_t> launch) const = 0;
  virtual Findings judge(const Launched& launched) const = 0;

  // Whether a comparator of public tests takes the launch for right; `found` is what judge() gave.
  virtual bool loosely_right(Judge judge, const Launched& launched, const Findings& found) const;
  // Whether a logit in view is NaN.
  virtual bool holds_nan(const StepInputs&) const { return false; }
  // Whether the published policy takes the case, for a kernel whose policy is known.
  virtual bool policy_takes() const { return true; }
  // The first slot under contract at which two launches differ that must agree, as "row r pos p
  // holds x in one run and y in the other"; empty: none. Where the contract fixes every element,
  // both were judged already.
  virtual std::string difference(const std::vector<Bytes>&, const std::vector<Bytes>&) const {
    return "";
  }
  // The same of launch `step`, where what is under contract is not the same at every launch.
  virtual std::string launch_difference(int64_t, const std::vector<Bytes>& a,
                                        const std::vector<Bytes>& b) const {
    return difference(a, b);
  }
  // Fills tensor 0 on the device; null: the operation has no logits.
  virtual kernels::Result<std::unique_ptr<DeviceFill>> device_fill(kernels::Device&) const;

  const fixtures::Case& value() const { return case_; }
  const KernelUnderTest& kernel() const { return kernel_; }
  uint32_t promised() const { return kernel_.kernel->modes; }

 protected:
  fixtures::Case case_;
  KernelUnderTest kernel_;
};

// The operation of the case. The case must be valid, and the kernel one of its operation.
std::unique_ptr<Operation> make_operation(const fixtures::Case& c, const KernelUnderTest& kernel);

}  // namespace exactk::props
