// Streams, events, captures and graphs: when an operation runs.
//
// Streams are queues. An operation runs when somebody waits for it, not at its call: reading a
// result without waiting is then wrong every time, and not only on fast GPUs.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "kernels/device/host/executor.h"
#include "kernels/device/host/hip_api.h"
#include "kernels/device/host/hip_launch.h"

namespace exactk::host_device {

// One record of an event.
struct Mark {
  Stream* stream = nullptr;
  uint64_t sequence = 0;
  bool done = false;
  std::chrono::steady_clock::time_point time;
};

struct GraphBody;
struct MemsetWork {
  void* to;
  int value;
  size_t bytes;
};
struct MemcpyWork {
  void* to;
  const void* from;
  size_t bytes;
};
struct RecordWork {
  std::shared_ptr<Mark> mark;
};
struct WaitWork {
  std::shared_ptr<Mark> mark;
};
struct ReplayWork {
  std::shared_ptr<const GraphBody> body;
};
using Work = std::variant<KernelLaunch, HostFunction, MemsetWork, MemcpyWork, RecordWork, WaitWork,
                          ReplayWork>;

struct GraphNode {
  Work work;
  std::vector<size_t> after;  // nodes that must have run
};
struct GraphBody {
  std::deque<GraphNode> nodes;  // in an order that respects `after`
};
struct Graph {
  std::shared_ptr<GraphBody> body;
};
struct GraphExec {
  std::shared_ptr<const GraphBody> body;
};

struct Capture {
  Stream* origin = nullptr;
  hipStreamCaptureMode mode = hipStreamCaptureModeGlobal;
  std::shared_ptr<GraphBody> body;
  bool invalid = false;
  std::string reason;  // of being invalid
};

struct Operation {
  uint64_t sequence;
  Work work;
};

struct Stream {
  bool blocking = true;  // ordered with the default stream
  std::deque<Operation> queue;
  std::shared_ptr<Capture> capture;
  std::vector<size_t> tail;  // nodes that the next captured operation comes after
};

struct Event {
  std::shared_ptr<Mark> mark;
  std::shared_ptr<Capture> capture;  // recorded in a capture, at `tail`
  std::vector<size_t> tail;
};

class Runtime {
 public:
  static Runtime& instance();
  std::mutex mutex;  // held by every call of the interface

  // Errors: the last one, with its sentence.
  hipError_t fail(hipError_t error, std::string text);
  // The same, and the capture is lost.
  hipError_t fail_capture(Capture& capture, hipError_t error, std::string text);
  hipError_t last_error = hipSuccess;
  std::string last_text;

  Settings settings;
  std::unordered_map<const void*, int> dynamic_limits;

  // nullptr names the default stream. A null result: no such stream.
  Stream* find(hipStream_t stream);
  Stream* add_stream(bool blocking);
  void remove_stream(Stream* stream);

  hipError_t enqueue(Stream* stream, Work work, const char* what);
  hipError_t replay(Stream* stream, const std::shared_ptr<const GraphBody>& body);
  // Runs the operations that a wait has to wait for; reports a fault of a kernel once.
  hipError_t wait_for(Stream* stream);
  hipError_t wait_for(const Mark& mark);
  hipError_t wait_for_all();
  void run_one(Stream* stream);

  hipError_t begin_capture(Stream* stream, hipStreamCaptureMode mode);
  hipError_t end_capture(Stream* stream, std::shared_ptr<GraphBody>* body);
  // hipSuccess when nothing is captured; else the captures are invalid.
  hipError_t refuse_in_capture(const char* what, hipError_t error, bool relaxed_allows);
  hipError_t refuse_in_capture_of(Stream* stream, const char* what);
  void join_capture(Stream* stream, const Event& event);

 private:
  Runtime();
  void run_until(Stream* stream, uint64_t sequence);
  void execute(const Work& work);
  void execute_graph(const GraphBody& body);
  void run_kernel(const KernelLaunch& launch);
  void run_host_function(const HostFunction& call);
  void fault(std::string text);
  void drop_queues();
  hipError_t report_fault();
  void append_node(Stream* stream, Work work);

  Stream default_stream_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<std::shared_ptr<Capture>> captures_;
  uint64_t sequence_ = 0;
  std::string fault_;
  Executor executor_;
};

}  // namespace exactk::host_device
