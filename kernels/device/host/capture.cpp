// Stream capture: operations become nodes of a graph instead of running.
#include <algorithm>

#include "kernels/device/host/runtime.h"

namespace exactk::host_device {

hipError_t Runtime::fail_capture(Capture& capture, hipError_t error, std::string text) {
  if (!capture.invalid) capture.reason = text;
  capture.invalid = true;
  return fail(error, std::move(text));
}

void Runtime::append_node(Stream* stream, Work work) {
  GraphBody& body = *stream->capture->body;
  body.nodes.push_back({std::move(work), stream->tail});
  stream->tail = {body.nodes.size() - 1};
}

hipError_t Runtime::begin_capture(Stream* stream, hipStreamCaptureMode mode) {
  if (stream == &default_stream_) {
    return fail(hipErrorStreamCaptureUnsupported,
                "the default stream cannot be captured; use a created stream");
  }
  if (stream->capture) return fail(hipErrorInvalidValue, "the stream is already being captured");
  stream->capture =
      std::make_shared<Capture>(Capture{stream, mode, std::make_shared<GraphBody>(), false, {}});
  stream->tail.clear();
  captures_.push_back(stream->capture);
  return hipSuccess;
}

hipError_t Runtime::end_capture(Stream* stream, std::shared_ptr<GraphBody>* body) {
  const std::shared_ptr<Capture> capture = stream->capture;
  if (!capture) return fail(hipErrorInvalidValue, "the stream is not being captured");
  if (capture->origin != stream) {
    return fail_capture(*capture, hipErrorStreamCaptureUnmatched,
                        "a capture must end on the stream on which it began");
  }
  // Everything that a forked stream did must come before the end of the origin stream.
  std::vector<bool> reached(capture->body->nodes.size(), false);
  for (size_t node : stream->tail) reached[node] = true;
  for (size_t i = reached.size(); i-- > 0;) {
    if (!reached[i]) continue;
    for (size_t before : capture->body->nodes[i].after) reached[before] = true;
  }
  bool joined = true;
  const auto leave = [&](Stream& member) {
    if (member.capture != capture) return;
    for (size_t node : member.tail) joined &= reached[node];
    member.capture = nullptr;
    member.tail.clear();
  };
  for (const auto& member : streams_) leave(*member);
  std::erase(captures_, capture);
  if (capture->invalid) {
    return fail(hipErrorStreamCaptureInvalidated, "the capture is invalid: " + capture->reason);
  }
  if (!joined) {
    return fail(
        hipErrorStreamCaptureUnjoined,
        "a stream that joined the capture through an event was not joined back before its end");
  }
  *body = capture->body;
  return hipSuccess;
}

hipError_t Runtime::refuse_in_capture(const char* what, hipError_t error, bool relaxed_allows) {
  hipError_t result = hipSuccess;
  for (const auto& capture : captures_) {
    if (relaxed_allows && capture->mode == hipStreamCaptureModeRelaxed) continue;
    result = fail_capture(*capture, error,
                          std::string(what) + " is not allowed while a stream is being captured");
  }
  return result;
}

hipError_t Runtime::refuse_in_capture_of(Stream* stream, const char* what) {
  if (!stream->capture) return hipSuccess;
  return fail_capture(*stream->capture, hipErrorStreamCaptureUnsupported,
                      std::string(what) + " is not allowed on a stream that is being captured");
}

// The stream waits for an event of a capture: it becomes part of that capture.
void Runtime::join_capture(Stream* stream, const Event& event) {
  stream->capture = event.capture;
  for (size_t node : event.tail) {
    if (std::find(stream->tail.begin(), stream->tail.end(), node) == stream->tail.end()) {
      stream->tail.push_back(node);
    }
  }
}

}  // namespace exactk::host_device
