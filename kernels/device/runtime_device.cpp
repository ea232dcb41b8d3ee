// The device layer over HIP names, for the target that this file is compiled for.
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <unordered_map>

#include "kernels/device/backend.h"
#include "kernels/device/portable.h"

namespace exactk::kernels {
namespace {

#if defined(EXACTK_TARGET_HOST)
constexpr const char* kKind = "host";
constexpr bool kPropertiesChange = true;  // the wave width is a setting
constexpr size_t kKeptBlocksMax = 0;      // each allocation has inaccessible pages of its own
std::string sentence(hipError_t) {
  return last_error_text();
}
#elif defined(EXACTK_TARGET_HIP)
constexpr const char* kKind = "hip";
constexpr bool kPropertiesChange = false;
constexpr size_t kKeptBlocksMax = 32;
std::string sentence(hipError_t error) {
  return hipGetErrorString(error);
}
#else
constexpr const char* kKind = "cuda";
constexpr bool kPropertiesChange = false;
constexpr size_t kKeptBlocksMax = 32;
std::string sentence(hipError_t error) {
  return hipGetErrorString(error);
}
#endif

// Turns the result of a call into the layer's; the runtime's own record of the error is cleared, so
// that a later hipGetLastError() does not see it again.
Result<void> check(hipError_t error, const char* doing) {
  if (error == hipSuccess) return {};
  Error text = fmt::format("{}: {} ({} {})", doing, sentence(error), hipGetErrorName(error),
                           static_cast<int>(error));
  static_cast<void>(hipGetLastError());
  return tl::unexpected(std::move(text));
}

#if defined(EXACTK_TARGET_HOST)
bool is_kernel(hipGraphNodeType type) {
  return type == hipGraphNodeTypeKernel || type == hipGraphNodeTypeHost;
}

// The exactk_enqueue of the host device. Called from C: nothing may be thrown.
exactk_status enqueue_host(void* stream, void (*function)(const void*), const void* arguments,
                           size_t argument_bytes, char* message, size_t message_bytes) {
  Error text;
  try {
    const std::shared_ptr<std::byte[]> copy(new std::byte[argument_bytes]);
    if (argument_bytes > 0) std::memcpy(copy.get(), arguments, argument_bytes);
    const auto done =
        check(enqueue_host_function({function, copy}, static_cast<hipStream_t>(stream)),
              "putting a function onto a stream");
    if (done) return EXACTK_OK;
    text = done.error();
  } catch (const std::exception& thrown) {
    text = thrown.what();
  }
  if (message != nullptr && message_bytes > 0)
    std::snprintf(message, message_bytes, "%s", text.c_str());
  return EXACTK_ERROR;
}
constexpr exactk_enqueue kEnqueue = &enqueue_host;
#else
bool is_kernel(hipGraphNodeType type) {
  return type == hipGraphNodeTypeKernel;
}
constexpr exactk_enqueue kEnqueue = nullptr;
#endif

// Released memory that is handed out again for an allocation of exactly the same size: as in a
// serving loop, a kernel finds what an earlier one left. Keeps at most kKeptBlocksMax blocks.
class KeptBlocks {
 public:
  void* take(int64_t bytes) {
    for (auto it = blocks_.begin(); it != blocks_.end(); ++it) {
      if (it->bytes != bytes) continue;
      void* memory = it->memory;
      blocks_.erase(it);
      bytes_ -= bytes;
      in_use_[memory] = bytes;
      return memory;
    }
    return nullptr;
  }
  void allocated(void* memory, int64_t bytes) { in_use_[memory] = bytes; }
  // What has to be freed in exchange for `memory`, which may be `memory` itself; null: nothing.
  void* keep(void* memory) {
    const auto found = in_use_.find(memory);
    if (kKeptBlocksMax == 0 || found == in_use_.end()) return memory;
    blocks_.push_back({memory, found->second});
    bytes_ += found->second;
    in_use_.erase(found);
    return blocks_.size() > kKeptBlocksMax ? drop_oldest() : nullptr;
  }
  void* drop_oldest() {
    if (blocks_.empty()) return nullptr;
    void* memory = blocks_.front().memory;
    bytes_ -= blocks_.front().bytes;
    blocks_.pop_front();
    return memory;
  }
  int64_t bytes() const { return bytes_; }

 private:
  struct Block {
    void* memory;
    int64_t bytes;
  };
  std::deque<Block> blocks_;  // oldest first
  std::unordered_map<void*, int64_t> in_use_;
  int64_t bytes_ = 0;
};

class RuntimeDevice final : public Device {
 public:
  explicit RuntimeDevice(int index) : index_(index) { ask_properties(); }
  ~RuntimeDevice() override {
    static_cast<void>(drop_graph());
    for (hipStream_t stream : created_) static_cast<void>(hipStreamDestroy(stream));
    drop_kept();
  }

  DeviceInfo info() const override;
  Result<void> configure(const HostOptions& options) override;

  Result<void*> allocate(int64_t bytes) override;
  Result<void> release(void* memory) override {
    return check(hipFree(kept_.keep(memory)), "freeing device memory");
  }
  Result<void> upload(void* device, const void* host, int64_t bytes) override;
  Result<void> download(void* host, const void* device, int64_t bytes) override;

  void* stream(int index) override;
  Result<void> synchronize(void* stream) override {
    return check(hipStreamSynchronize(static_cast<hipStream_t>(stream)), "waiting for a stream");
  }

  Result<void> begin_capture(void* stream) override {
    return check(
        hipStreamBeginCapture(static_cast<hipStream_t>(stream), hipStreamCaptureModeGlobal),
        "beginning a capture");
  }
  Result<void> end_capture(void* stream) override;
  Result<void> replay(void* stream) override;
  Result<void> drop_graph() override;
  GraphNodes graph_nodes() const override { return nodes_; }
  exactk_enqueue host_enqueue() const override { return kEnqueue; }

 private:
  void ask_properties() const { static_cast<void>(hipGetDeviceProperties(&properties_, index_)); }
  Result<void> count_nodes(hipGraph_t graph);
  void drop_kept() {
    while (void* memory = kept_.drop_oldest()) static_cast<void>(hipFree(memory));
  }

  int index_;
  KeptBlocks kept_;
  mutable hipDeviceProp_t properties_{};
  std::vector<hipStream_t> created_;
  hipGraphExec_t executable_ = nullptr;
  GraphNodes nodes_;
};

DeviceInfo RuntimeDevice::info() const {
  // Asking a GPU takes milliseconds, and the answer is always the same.
  if (kPropertiesChange) ask_properties();
  size_t free_bytes = 0, total_bytes = 0;
  int chosen = index_;
  static_cast<void>(hipGetDevice(&chosen));
  static_cast<void>(hipSetDevice(index_));  // the free memory is that of the chosen device
  static_cast<void>(hipMemGetInfo(&free_bytes, &total_bytes));
  static_cast<void>(hipSetDevice(chosen));
  DeviceInfo info;
  info.kind = kKind;
  info.index = index_;
  info.name = properties_.name;
  info.arch = properties_.gcnArchName;
  info.wave_width = properties_.warpSize;
  info.memory_free_bytes = static_cast<int64_t>(free_bytes) + kept_.bytes();
  return info;
}

Result<void> RuntimeDevice::configure(const HostOptions& options) {
#if defined(EXACTK_TARGET_HOST)
  Settings next = settings();
  next.wave_width = options.wave_width;
  next.schedule_seed = options.schedule_seed;
  next.workers = options.workers;
  return check(host_device::configure(next), "configuring the host device");
#else
  const HostOptions usual;
  if (options.wave_width == usual.wave_width && options.schedule_seed == usual.schedule_seed &&
      options.workers == usual.workers) {
    return {};
  }
  return tl::unexpected(
      Error("wave width, schedule seed and workers can be chosen on the host device only"));
#endif
}

Result<void*> RuntimeDevice::allocate(int64_t bytes) {
  if (bytes < 0) return tl::unexpected(fmt::format("cannot allocate {} bytes", bytes));
  if (void* kept = kept_.take(bytes)) return kept;
  void* memory = nullptr;
  auto done = check(hipMalloc(&memory, static_cast<size_t>(bytes)), "allocating device memory");
  if (!done && kept_.bytes() > 0) {
    drop_kept();
    done = check(hipMalloc(&memory, static_cast<size_t>(bytes)), "allocating device memory");
  }
  if (!done) return tl::unexpected(done.error());
  kept_.allocated(memory, bytes);
  return memory;
}

Result<void> RuntimeDevice::upload(void* device, const void* host, int64_t bytes) {
  if (bytes < 0) return tl::unexpected(fmt::format("cannot upload {} bytes", bytes));
  const auto done = check(
      hipMemcpy(device, host, static_cast<size_t>(bytes), hipMemcpyHostToDevice), "uploading");
  // A copy from pageable memory may return while its last bytes are on their way, and the created
  // streams do not wait for the default stream.
  return done ? synchronize(nullptr) : done;
}

Result<void> RuntimeDevice::download(void* host, const void* device, int64_t bytes) {
  if (bytes < 0) return tl::unexpected(fmt::format("cannot download {} bytes", bytes));
  return check(hipMemcpy(host, device, static_cast<size_t>(bytes), hipMemcpyDeviceToHost),
               "downloading");
}

// Created streams do not wait for the default stream, so that a forgotten wait shows.
void* RuntimeDevice::stream(int index) {
  if (index <= 0) return nullptr;
  while (created_.size() < static_cast<size_t>(index)) {
    hipStream_t created = nullptr;
    if (hipStreamCreateWithFlags(&created, hipStreamNonBlocking) != hipSuccess) return nullptr;
    created_.push_back(created);
  }
  return created_[static_cast<size_t>(index) - 1];
}

Result<void> RuntimeDevice::end_capture(void* stream) {
  static_cast<void>(drop_graph());
  hipGraph_t graph = nullptr;
  auto done =
      check(hipStreamEndCapture(static_cast<hipStream_t>(stream), &graph), "ending a capture");
  if (!done) return done;
  done = count_nodes(graph);
  if (done)
    done = check(hipGraphInstantiate(&executable_, graph, nullptr, nullptr, 0),
                 "instantiating a graph");
  static_cast<void>(hipGraphDestroy(graph));
  if (!done) nodes_ = {};
  return done;
}

Result<void> RuntimeDevice::count_nodes(hipGraph_t graph) {
  size_t count = 0;
  auto done = check(hipGraphGetNodes(graph, nullptr, &count), "counting the nodes of a graph");
  if (!done) return done;
  std::vector<hipGraphNode_t> nodes(count);
  done = check(hipGraphGetNodes(graph, nodes.data(), &count), "reading the nodes of a graph");
  for (size_t i = 0; done && i < count; ++i) {
    hipGraphNodeType type{};
    done = check(hipGraphNodeGetType(nodes[i], &type), "reading the type of a node");
    ++(is_kernel(type)                  ? nodes_.kernels
       : type == hipGraphNodeTypeMemset ? nodes_.memsets
       : type == hipGraphNodeTypeMemcpy ? nodes_.memcpys
                                        : nodes_.others);
  }
  return done;
}

Result<void> RuntimeDevice::replay(void* stream) {
  if (!executable_)
    return tl::unexpected(Error("there is no graph to replay; end a capture first"));
  return check(hipGraphLaunch(executable_, static_cast<hipStream_t>(stream)), "replaying a graph");
}

Result<void> RuntimeDevice::drop_graph() {
  nodes_ = {};
  if (!executable_) return {};
  const hipGraphExec_t executable = executable_;
  executable_ = nullptr;
  return check(hipGraphExecDestroy(executable), "dropping a graph");
}

Result<std::unique_ptr<Device>> open(int index) {
  const auto done = check(hipSetDevice(index), "choosing a device");
  if (!done) return tl::unexpected(done.error());
  return std::make_unique<RuntimeDevice>(index);
}

Result<std::vector<DeviceInfo>> list() {
  int count = 0;
  const auto done = check(hipGetDeviceCount(&count), "counting devices");
  if (!done) return tl::unexpected(done.error());
  std::vector<DeviceInfo> devices;
  for (int i = 0; i < count; ++i) devices.push_back(RuntimeDevice(i).info());
  return devices;
}

}  // namespace

#if defined(EXACTK_TARGET_HOST)
const Backend& host_backend() {
#elif defined(EXACTK_TARGET_HIP)
const Backend& hip_backend() {
#else
const Backend& cuda_backend() {
#endif
  static const Backend backend{kKind, &list, &open};
  return backend;
}

}  // namespace exactk::kernels
