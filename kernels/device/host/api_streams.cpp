// The calls of the interface about streams, events, captures and graphs.
#include <memory>

#include "kernels/device/host/runtime.h"

namespace exactk::host_device {
namespace {

// The runtime, locked for one call.
struct Call {
  Runtime& runtime = Runtime::instance();
  std::lock_guard<std::mutex> lock{runtime.mutex};

  hipError_t no_stream(const char* what) {
    return runtime.fail(hipErrorInvalidHandle, std::string(what) + ": no such stream");
  }
  hipError_t null_argument(const char* what) {
    return runtime.fail(hipErrorInvalidValue, std::string(what) + ": null argument");
  }
};

}  // namespace

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  Call call;
  if (!stream) return call.null_argument("hipStreamCreateWithFlags");
  *stream = call.runtime.add_stream(!(flags & hipStreamNonBlocking));
  return hipSuccess;
}

hipError_t hipStreamCreate(hipStream_t* stream) {
  return hipStreamCreateWithFlags(stream, hipStreamDefault);
}

hipError_t hipStreamDestroy(hipStream_t stream) {
  Call call;
  Stream* queue = stream ? call.runtime.find(stream) : nullptr;
  if (!queue) return call.no_stream("hipStreamDestroy");
  if (const hipError_t error = call.runtime.refuse_in_capture_of(queue, "hipStreamDestroy"))
    return error;
  call.runtime.remove_stream(queue);
  return hipSuccess;
}

hipError_t hipStreamSynchronize(hipStream_t stream) {
  Call call;
  Stream* queue = call.runtime.find(stream);
  if (!queue) return call.no_stream("hipStreamSynchronize");
  if (const hipError_t error = call.runtime.refuse_in_capture_of(queue, "hipStreamSynchronize"))
    return error;
  return call.runtime.wait_for(queue);
}

// Runs one operation if some are left, so that a loop that polls ends.
hipError_t hipStreamQuery(hipStream_t stream) {
  Call call;
  Stream* queue = call.runtime.find(stream);
  if (!queue) return call.no_stream("hipStreamQuery");
  if (const hipError_t error = call.runtime.refuse_in_capture_of(queue, "hipStreamQuery"))
    return error;
  if (queue->queue.empty()) return call.runtime.wait_for(queue);
  call.runtime.run_one(queue);
  return hipErrorNotReady;
}

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned) {
  Call call;
  Stream* queue = call.runtime.find(stream);
  if (!queue) return call.no_stream("hipStreamWaitEvent");
  if (!event) return call.null_argument("hipStreamWaitEvent");
  if (event->capture) {
    if (queue->capture && queue->capture != event->capture) {
      return call.runtime.fail_capture(*queue->capture, hipErrorStreamCaptureMerge,
                                       "hipStreamWaitEvent would merge two captures");
    }
    call.runtime.join_capture(queue, *event);
    return hipSuccess;
  }
  if (!event->mark) return hipSuccess;  // never recorded: nothing to wait for
  if (queue->capture) {
    return call.runtime.fail_capture(
        *queue->capture, hipErrorStreamCaptureUnsupported,
        "a captured stream cannot wait for an event from outside the capture");
  }
  return call.runtime.enqueue(queue, WaitWork{event->mark}, "hipStreamWaitEvent");
}

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned) {
  Call call;
  if (!event) return call.null_argument("hipEventCreateWithFlags");
  *event = new Event;
  return hipSuccess;
}

hipError_t hipEventCreate(hipEvent_t* event) {
  return hipEventCreateWithFlags(event, hipEventDefault);
}

hipError_t hipEventDestroy(hipEvent_t event) {
  Call call;
  if (!event) return call.null_argument("hipEventDestroy");
  delete event;
  return hipSuccess;
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  Call call;
  Stream* queue = call.runtime.find(stream);
  if (!queue) return call.no_stream("hipEventRecord");
  if (!event) return call.null_argument("hipEventRecord");
  event->capture = queue->capture;
  event->tail = queue->tail;
  event->mark = nullptr;
  if (queue->capture) return hipSuccess;
  event->mark = std::make_shared<Mark>();
  return call.runtime.enqueue(queue, RecordWork{event->mark}, "hipEventRecord");
}

hipError_t hipEventSynchronize(hipEvent_t event) {
  Call call;
  if (!event) return call.null_argument("hipEventSynchronize");
  if (event->capture) {
    return call.runtime.fail_capture(
        *event->capture, hipErrorCapturedEvent,
        "hipEventSynchronize on an event that was recorded in a capture");
  }
  return event->mark ? call.runtime.wait_for(*event->mark) : hipSuccess;
}

hipError_t hipEventQuery(hipEvent_t event) {
  Call call;
  if (!event) return call.null_argument("hipEventQuery");
  if (event->capture) {
    return call.runtime.fail_capture(*event->capture, hipErrorCapturedEvent,
                                     "hipEventQuery on an event that was recorded in a capture");
  }
  if (!event->mark || event->mark->done) return hipSuccess;
  call.runtime.run_one(event->mark->stream);
  return hipErrorNotReady;
}

hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
  Call call;
  if (!milliseconds || !start || !stop || !start->mark || !stop->mark) {
    return call.runtime.fail(hipErrorInvalidHandle,
                             "hipEventElapsedTime: an event was never recorded");
  }
  if (!start->mark->done || !stop->mark->done) return hipErrorNotReady;
  *milliseconds =
      std::chrono::duration<float, std::milli>(stop->mark->time - start->mark->time).count();
  return hipSuccess;
}

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  Call call;
  Stream* queue = call.runtime.find(stream);
  if (!queue) return call.no_stream("hipStreamBeginCapture");
  return call.runtime.begin_capture(queue, mode);
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  Call call;
  Stream* queue = call.runtime.find(stream);
  if (!queue) return call.no_stream("hipStreamEndCapture");
  if (!graph) return call.null_argument("hipStreamEndCapture");
  *graph = nullptr;
  std::shared_ptr<GraphBody> body;
  if (const hipError_t error = call.runtime.end_capture(queue, &body)) return error;
  *graph = new Graph{std::move(body)};
  return hipSuccess;
}

hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  Call call;
  Stream* queue = call.runtime.find(stream);
  if (!queue) return call.no_stream("hipStreamIsCapturing");
  if (!status) return call.null_argument("hipStreamIsCapturing");
  *status = !queue->capture           ? hipStreamCaptureStatusNone
            : queue->capture->invalid ? hipStreamCaptureStatusInvalidated
                                      : hipStreamCaptureStatusActive;
  return hipSuccess;
}

hipError_t hipGraphInstantiate(hipGraphExec_t* executable, hipGraph_t graph, hipGraphNode_t*, char*,
                               size_t) {
  Call call;
  if (!executable || !graph) return call.null_argument("hipGraphInstantiate");
  *executable = new GraphExec{graph->body};
  return hipSuccess;
}

hipError_t hipGraphLaunch(hipGraphExec_t executable, hipStream_t stream) {
  Call call;
  Stream* queue = call.runtime.find(stream);
  if (!queue) return call.no_stream("hipGraphLaunch");
  if (!executable) return call.null_argument("hipGraphLaunch");
  return call.runtime.replay(queue, executable->body);
}

hipError_t hipGraphDestroy(hipGraph_t graph) {
  Call call;
  if (!graph) return call.null_argument("hipGraphDestroy");
  delete graph;
  return hipSuccess;
}

hipError_t hipGraphExecDestroy(hipGraphExec_t executable) {
  Call call;
  if (!executable) return call.null_argument("hipGraphExecDestroy");
  delete executable;
  return hipSuccess;
}

hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t* nodes, size_t* count) {
  Call call;
  if (!graph || !count) return call.null_argument("hipGraphGetNodes");
  if (!nodes) {
    *count = graph->body->nodes.size();
    return hipSuccess;
  }
  size_t filled = 0;
  for (GraphNode& node : graph->body->nodes) {
    if (filled == *count) break;
    nodes[filled++] = &node;
  }
  *count = filled;
  return hipSuccess;
}

hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType* type) {
  Call call;
  if (!node || !type) return call.null_argument("hipGraphNodeGetType");
  *type = std::holds_alternative<KernelLaunch>(node->work)   ? hipGraphNodeTypeKernel
          : std::holds_alternative<HostFunction>(node->work) ? hipGraphNodeTypeHost
          : std::holds_alternative<MemsetWork>(node->work)   ? hipGraphNodeTypeMemset
                                                             : hipGraphNodeTypeMemcpy;
  return hipSuccess;
}

}  // namespace exactk::host_device
