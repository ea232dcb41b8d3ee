// HIP names over CUDA: exactly the names in use, so that the same sources compile with nvcc. In a
// source that a C++ compiler compiles, only the calls of the CPU side are there.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>

using hipError_t = cudaError_t;
using hipStream_t = cudaStream_t;
using hipGraph_t = cudaGraph_t;
using hipGraphExec_t = cudaGraphExec_t;
using hipGraphNode_t = cudaGraphNode_t;
using hipGraphNodeType = cudaGraphNodeType;

inline constexpr hipError_t hipSuccess = cudaSuccess;
inline constexpr auto hipMemcpyHostToDevice = cudaMemcpyHostToDevice;
inline constexpr auto hipMemcpyDeviceToHost = cudaMemcpyDeviceToHost;
inline constexpr auto hipStreamCaptureModeGlobal = cudaStreamCaptureModeGlobal;
inline constexpr auto hipGraphNodeTypeKernel = cudaGraphNodeTypeKernel;
inline constexpr auto hipGraphNodeTypeMemset = cudaGraphNodeTypeMemset;
inline constexpr auto hipGraphNodeTypeMemcpy = cudaGraphNodeTypeMemcpy;
inline constexpr unsigned hipStreamNonBlocking = cudaStreamNonBlocking;

// Signatures differ only where a function is written out below.
inline constexpr auto& hipGetErrorName = cudaGetErrorName;
inline constexpr auto& hipGetErrorString = cudaGetErrorString;
inline constexpr auto& hipGetLastError = cudaGetLastError;
inline constexpr auto& hipGetDevice = cudaGetDevice;
inline constexpr auto& hipSetDevice = cudaSetDevice;
inline constexpr auto& hipGetDeviceCount = cudaGetDeviceCount;
inline constexpr auto& hipMemGetInfo = cudaMemGetInfo;
inline constexpr auto& hipFree = cudaFree;
inline constexpr auto& hipMemcpy = cudaMemcpy;
inline constexpr auto& hipMemsetAsync = cudaMemsetAsync;
inline constexpr auto& hipStreamCreateWithFlags = cudaStreamCreateWithFlags;
inline constexpr auto& hipStreamDestroy = cudaStreamDestroy;
inline constexpr auto& hipStreamSynchronize = cudaStreamSynchronize;
inline constexpr auto& hipStreamBeginCapture = cudaStreamBeginCapture;
inline constexpr auto& hipStreamEndCapture = cudaStreamEndCapture;
inline constexpr auto& hipGraphGetNodes = cudaGraphGetNodes;
inline constexpr auto& hipGraphNodeGetType = cudaGraphNodeGetType;
inline constexpr auto& hipGraphLaunch = cudaGraphLaunch;
inline constexpr auto& hipGraphDestroy = cudaGraphDestroy;
inline constexpr auto& hipGraphExecDestroy = cudaGraphExecDestroy;

inline hipError_t hipMalloc(void** memory, size_t bytes) {
  return cudaMalloc(memory, bytes);
}

inline hipError_t hipGraphInstantiate(hipGraphExec_t* executable, hipGraph_t graph, hipGraphNode_t*,
                                      char*, size_t) {
  return cudaGraphInstantiate(executable, graph, 0);
}

struct hipDeviceProp_t : cudaDeviceProp {
  char gcnArchName[16];  // "sm_90"
};

inline hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
  const hipError_t error = cudaGetDeviceProperties(properties, device);
  std::snprintf(properties->gcnArchName, sizeof(properties->gcnArchName), "sm_%d%d",
                properties->major, properties->minor);
  return error;
}

#if defined(__CUDACC__)

#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define hipLaunchKernelGGL(kernel, grid, block, dynamic_bytes, stream, ...) \
  kernel<<<(grid), (block), (dynamic_bytes), (stream)>>>(__VA_ARGS__)

// Wave operations without a mask: a HIP kernel calls them with all lanes of a wave, or with all
// that have not returned.
inline constexpr unsigned kAllLanes = 0xffffffffu;

// CUDA declares a function of this name, hence a macro.
#define __ballot(predicate) static_cast<unsigned long long>(__ballot_sync(kAllLanes, (predicate)))

template <class T>
__device__ inline T __shfl(T value, int source, int width = warpSize) {
  return __shfl_sync(kAllLanes, value, source, width);
}
template <class T>
__device__ inline T __shfl_up(T value, unsigned delta, int width = warpSize) {
  return __shfl_up_sync(kAllLanes, value, delta, width);
}

#endif
