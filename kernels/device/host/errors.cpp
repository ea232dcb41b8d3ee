// Names of the error numbers.
#include "kernels/device/host/hip_api.h"

namespace exactk::host_device {

const char* hipGetErrorName(hipError_t error) {
  switch (error) {
#define EXACTK_NAME(name) \
  case name:              \
    return #name
    EXACTK_NAME(hipSuccess);
    EXACTK_NAME(hipErrorInvalidValue);
    EXACTK_NAME(hipErrorOutOfMemory);
    EXACTK_NAME(hipErrorInvalidConfiguration);
    EXACTK_NAME(hipErrorInvalidMemcpyDirection);
    EXACTK_NAME(hipErrorNoDevice);
    EXACTK_NAME(hipErrorInvalidDevice);
    EXACTK_NAME(hipErrorInvalidHandle);
    EXACTK_NAME(hipErrorNotReady);
    EXACTK_NAME(hipErrorLaunchFailure);
    EXACTK_NAME(hipErrorStreamCaptureUnsupported);
    EXACTK_NAME(hipErrorStreamCaptureInvalidated);
    EXACTK_NAME(hipErrorStreamCaptureMerge);
    EXACTK_NAME(hipErrorStreamCaptureUnmatched);
    EXACTK_NAME(hipErrorStreamCaptureUnjoined);
    EXACTK_NAME(hipErrorStreamCaptureImplicit);
    EXACTK_NAME(hipErrorCapturedEvent);
    EXACTK_NAME(hipErrorUnknown);
#undef EXACTK_NAME
  }
  return "unknown error";
}

const char* hipGetErrorString(hipError_t error) {
  return hipGetErrorName(error);
}

}  // namespace exactk::host_device
