// Runs one kernel on the device of the test program and has its outputs, and the bytes around all
// buffers, judged. By default every element of an output is fixed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/abi/exactk_abi.h"
#include "kernels/device/buffer.h"
#include "kernels/device/device.h"
#include "oracle/expected.h"

namespace exactk::kernels::test {

// A shipped kernel or a mutant by its name; aborts the test program on an unknown name.
const exactk_kernel& kernel(std::string_view name);

// Device buffers by name. A buffer is made at its first upload and keeps its place; later uploads
// have as many bytes. The first error stays.
class Buffers {
 public:
  explicit Buffers(Device& device) : device_(device) {}
  template <class T>
  void upload(const std::string& name, const std::vector<T>& values, int64_t misalign = 0) {
    upload_bytes(name, std::as_bytes(std::span(values)), misalign * int64_t{sizeof(T)});
  }
  // The device address; null if nothing was uploaded under that name.
  template <class T>
  T* at(const std::string& name) const {
    const auto found = buffers_.find(name);
    return found == buffers_.end() ? nullptr : reinterpret_cast<T*>(found->second.data());
  }
  template <class T>
  std::vector<T> download(const std::string& name) {
    const GuardedBuffer& buffer = buffers_.at(name);
    std::vector<T> values(static_cast<size_t>(buffer.bytes()) / sizeof(T));
    keep(buffer.download(std::as_writable_bytes(std::span(values))));
    return values;
  }
  std::string check_guards() const;
  const std::string& error() const { return error_; }

 private:
  void upload_bytes(const std::string& name, std::span<const std::byte> bytes,
                    int64_t misalign_bytes);
  void keep(const Result<void>& result);

  Device& device_;
  std::map<std::string, GuardedBuffer> buffers_;
  std::string error_;
};

// Where a launch works.
struct Place {
  void* workspace = nullptr;
  int64_t workspace_bytes = 0;
  void* stream = nullptr;
};

struct Output {
  std::string name;
  int64_t bytes = 0;
  int64_t misalign_bytes = 0;
};

// The inputs of one launch of an operation.
class Problem {
 public:
  virtual ~Problem() = default;
  virtual std::vector<oracle::ExpectedTensor> expected() const { return {}; }
  virtual std::vector<Output> outputs() const;
  // Of outputs whose every byte was `before`. Empty, or what is wrong.
  virtual std::string judge(Buffers& buffers, uint8_t before) const;
  virtual void upload_inputs(Buffers& buffers) const = 0;
  // The struct of the operation over these buffers, valid until the next call.
  virtual const void* descriptor(const Buffers& buffers, const Place& place) = 0;

  int32_t slot_bytes = 4;  // of the first output; the others are int32
  int64_t misalign = 0;    // elements, of the first output

 private:
  std::vector<int64_t> widened(const oracle::ExpectedTensor& want, bool first,
                               Buffers& buffers) const;
  std::string judge_tensor(const oracle::ExpectedTensor& want, bool first, Buffers& buffers,
                           uint8_t before) const;
};

// Of the host device, but for what workspace and outputs hold before each launch; a GPU runs as it
// is.
struct Options {
  int wave_width = 64;
  uint64_t schedule_seed = 0;
  uint8_t workspace_byte = 0x7f;
  uint8_t output_byte = 0xa5;
};

// Holds the buffers of a problem, which may change its values between launches but not its shape.
class Bench {
 public:
  Bench(const exactk_kernel& kernel, Problem& problem, const Options& options);

  // Each returns an empty string, or what went wrong.
  std::string prepare();  // uploads the inputs, poisons outputs and workspace
  std::string launch();
  std::string capture();
  std::string replay();
  std::string judge();  // synchronises
  std::string run();    // prepare, launch, judge

  int captured_kernels() const { return device_->graph_nodes().kernels; }

 private:
  std::string enqueue(void* stream);

  const exactk_kernel& kernel_;
  Problem& problem_;
  Options options_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Buffers> buffers_;  // released before the device
  int64_t workspace_bytes_ = 0;
  void* stream_ = nullptr;
  std::string broken_;  // why nothing can run
};

// Prepares, launches and judges.
std::string run(std::string_view kernel_name, Problem& problem, const Options& options = {});

}  // namespace exactk::kernels::test
