// The calls of the HIP interface that run on the CPU side, and what only the host device has.
#pragma once

#include <string>

#include "kernels/device/host/hip_types.h"

namespace exactk::host_device {

// How the host device runs launches from now on. A captured launch keeps the wave width of its
// capture.
struct Settings {
  int wave_width = 64;          // 32 or 64
  uint64_t schedule_seed = 0;   // 0: blocks, waves and lanes in order
  int workers = 2;              // threads that run blocks, 1 to 64
  bool eager = false;           // run every operation at its call, for measurements
  int block_seconds_max = 120;  // a block that runs longer is ended and reported
};
hipError_t configure(const Settings& settings);
Settings settings();

// The sentence that belongs to the last error; empty if there was none.
std::string last_error_text();

hipError_t hipGetLastError();
hipError_t hipPeekAtLastError();
const char* hipGetErrorName(hipError_t error);
const char* hipGetErrorString(hipError_t error);

hipError_t hipGetDeviceCount(int* count);
hipError_t hipGetDevice(int* device);
hipError_t hipSetDevice(int device);
hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device);
hipError_t hipMemGetInfo(size_t* free_bytes, size_t* total_bytes);
hipError_t hipDeviceSynchronize();

hipError_t hipMalloc(void** memory, size_t bytes);
template <class T>
hipError_t hipMalloc(T** memory, size_t bytes) {
  return hipMalloc(reinterpret_cast<void**>(memory), bytes);
}
hipError_t hipFree(void* memory);
hipError_t hipMemcpy(void* to, const void* from, size_t bytes, hipMemcpyKind kind);
hipError_t hipMemcpyAsync(void* to, const void* from, size_t bytes, hipMemcpyKind kind,
                          hipStream_t stream = nullptr);
hipError_t hipMemset(void* memory, int value, size_t bytes);
hipError_t hipMemsetAsync(void* memory, int value, size_t bytes, hipStream_t stream = nullptr);

hipError_t hipStreamCreate(hipStream_t* stream);
hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipStreamQuery(hipStream_t stream);
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags = 0);

hipError_t hipEventCreate(hipEvent_t* event);
hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags);
hipError_t hipEventDestroy(hipEvent_t event);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream = nullptr);
hipError_t hipEventSynchronize(hipEvent_t event);
hipError_t hipEventQuery(hipEvent_t event);
hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop);

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode);
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph);
hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status);
hipError_t hipGraphInstantiate(hipGraphExec_t* executable, hipGraph_t graph,
                               hipGraphNode_t* bad_node, char* log, size_t log_bytes);
hipError_t hipGraphLaunch(hipGraphExec_t executable, hipStream_t stream);
hipError_t hipGraphDestroy(hipGraph_t graph);
hipError_t hipGraphExecDestroy(hipGraphExec_t executable);
hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t* nodes, size_t* count);
hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType* type);

}  // namespace exactk::host_device
