#include "kernels/device/host/runtime.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <limits>

#include "kernels/device/host/schedule.h"

namespace exactk::host_device {
namespace {

constexpr uint64_t kEverything = std::numeric_limits<uint64_t>::max();

}  // namespace

Runtime::Runtime() = default;

Runtime& Runtime::instance() {
  // Never destroyed: the workers outlive main().
  static Runtime* const runtime = new Runtime;
  return *runtime;
}

hipError_t Runtime::fail(hipError_t error, std::string text) {
  last_error = error;
  last_text = std::move(text);
  return error;
}

Stream* Runtime::find(hipStream_t stream) {
  if (!stream) return &default_stream_;
  for (const auto& known : streams_) {
    if (known.get() == stream) return stream;
  }
  return nullptr;
}

Stream* Runtime::add_stream(bool blocking) {
  streams_.push_back(std::make_unique<Stream>());
  streams_.back()->blocking = blocking;
  return streams_.back().get();
}

void Runtime::remove_stream(Stream* stream) {
  run_until(stream, kEverything);
  std::erase_if(streams_, [stream](const auto& known) { return known.get() == stream; });
}

hipError_t Runtime::enqueue(Stream* stream, Work work, const char* what) {
  if (stream->capture) {
    if (stream->capture->invalid) {
      return fail(hipErrorStreamCaptureInvalidated,
                  std::string(what) + " in a capture that is already invalid");
    }
    append_node(stream, std::move(work));
    return hipSuccess;
  }
  if (stream == &default_stream_) {
    for (const auto& capture : captures_) {
      if (!capture->origin->blocking) continue;
      return fail_capture(
          *capture, hipErrorStreamCaptureImplicit,
          std::string(what) + " on the default stream would join the capture of a blocking stream");
    }
  }
  if (auto* record = std::get_if<RecordWork>(&work)) {
    record->mark->stream = stream;
    record->mark->sequence = sequence_ + 1;
  }
  stream->queue.push_back({++sequence_, std::move(work)});
  if (settings.eager) run_until(stream, kEverything);
  return hipSuccess;
}

hipError_t Runtime::replay(Stream* stream, const std::shared_ptr<const GraphBody>& body) {
  if (!stream->capture) return enqueue(stream, ReplayWork{body}, "hipGraphLaunch");
  if (stream->capture->invalid) {
    return fail(hipErrorStreamCaptureInvalidated,
                "hipGraphLaunch in a capture that is already invalid");
  }
  for (const GraphNode& node : body->nodes) append_node(stream, node.work);
  return hipSuccess;
}

// Runs the stream's operations up to a sequence number, and first what they depend on. Dependencies
// have smaller numbers, so this ends.
void Runtime::run_until(Stream* stream, uint64_t sequence) {
  while (!stream->queue.empty() && stream->queue.front().sequence <= sequence) {
    const Operation operation = std::move(stream->queue.front());
    stream->queue.pop_front();
    if (stream == &default_stream_) {
      for (const auto& other : streams_) {
        if (other->blocking) run_until(other.get(), operation.sequence);
      }
    } else if (stream->blocking) {
      run_until(&default_stream_, operation.sequence);
    }
    if (const auto* wait = std::get_if<WaitWork>(&operation.work); wait && !wait->mark->done) {
      run_until(wait->mark->stream, wait->mark->sequence);
    }
    // A fault in what came before ends everything that was enqueued.
    if (fault_.empty()) {
      execute(operation.work);
    } else if (const auto* record = std::get_if<RecordWork>(&operation.work)) {
      record->mark->done = true;
    }
  }
}

void Runtime::run_one(Stream* stream) {
  if (!stream->queue.empty()) run_until(stream, stream->queue.front().sequence);
}

void Runtime::execute(const Work& work) {
  if (const auto* launch = std::get_if<KernelLaunch>(&work)) {
    run_kernel(*launch);
  } else if (const auto* call = std::get_if<HostFunction>(&work)) {
    run_host_function(*call);
  } else if (const auto* set = std::get_if<MemsetWork>(&work)) {
    std::memset(set->to, set->value, set->bytes);
  } else if (const auto* copy = std::get_if<MemcpyWork>(&work)) {
    std::memmove(copy->to, copy->from, copy->bytes);
  } else if (const auto* record = std::get_if<RecordWork>(&work)) {
    record->mark->time = std::chrono::steady_clock::now();
    record->mark->done = true;
  } else if (const auto* replayed = std::get_if<ReplayWork>(&work)) {
    execute_graph(*replayed->body);
  }
}

// Nodes run in the order of their capture, or with a schedule seed in any order that the
// dependencies allow.
void Runtime::execute_graph(const GraphBody& body) {
  ScheduleRandom random(settings.schedule_seed);
  std::vector<bool> done(body.nodes.size(), false);
  for (size_t count = 0; count < body.nodes.size() && fault_.empty(); ++count) {
    std::vector<size_t> ready;
    for (size_t i = 0; i < body.nodes.size(); ++i) {
      const auto& after = body.nodes[i].after;
      if (!done[i] && std::all_of(after.begin(), after.end(), [&](size_t n) { return done[n]; })) {
        ready.push_back(i);
        if (settings.schedule_seed == 0) break;
      }
    }
    const size_t node =
        settings.schedule_seed == 0 ? ready.front() : ready[random.below(ready.size())];
    execute(body.nodes[node].work);
    done[node] = true;
  }
}

void Runtime::run_kernel(const KernelLaunch& launch) {
  std::string text = executor_.run(launch, settings);
  if (!text.empty()) fault(std::move(text));
}

void Runtime::run_host_function(const HostFunction& call) {
  try {
    call.function(call.arguments.get());
  } catch (const std::exception& thrown) {
    fault(std::string("a host function threw an exception: ") + thrown.what());
  } catch (...) {
    fault("a host function threw an exception");
  }
}

void Runtime::fault(std::string text) {
  fault_ = std::move(text);
  drop_queues();
}

// After a fault nothing that was enqueued runs any more.
void Runtime::drop_queues() {
  const auto drop = [](Stream& stream) {
    for (const Operation& operation : stream.queue) {
      if (const auto* record = std::get_if<RecordWork>(&operation.work)) record->mark->done = true;
    }
    stream.queue.clear();
  };
  drop(default_stream_);
  for (const auto& stream : streams_) drop(*stream);
}

hipError_t Runtime::report_fault() {
  if (fault_.empty()) return hipSuccess;
  std::string text;
  text.swap(fault_);
  return fail(hipErrorLaunchFailure, std::move(text));
}

hipError_t Runtime::wait_for(Stream* stream) {
  if (stream == &default_stream_) {
    for (const auto& other : streams_) {
      if (other->blocking) run_until(other.get(), kEverything);
    }
  }
  run_until(stream, kEverything);
  return report_fault();
}

hipError_t Runtime::wait_for(const Mark& mark) {
  if (!mark.done) run_until(mark.stream, mark.sequence);
  return report_fault();
}

// With a schedule seed the streams advance in turns that the seed draws; events and the default
// stream keep the order that they promise.
hipError_t Runtime::wait_for_all() {
  ScheduleRandom random(settings.schedule_seed);
  for (;;) {
    std::vector<Stream*> pending;
    if (!default_stream_.queue.empty()) pending.push_back(&default_stream_);
    for (const auto& stream : streams_) {
      if (!stream->queue.empty()) pending.push_back(stream.get());
    }
    if (pending.empty()) return report_fault();
    run_one(settings.schedule_seed == 0 ? pending.front() : pending[random.below(pending.size())]);
  }
}

}  // namespace exactk::host_device
