// The host's stand-in for CUDA's runtime library: see cuda_runtime.h.
#define EMULATED_LIBRARY
#include "cuda_runtime.h"

#include <vector>

#include "runtime.cpp"

void emulated_launch(dim3 grid, dim3 block, size_t shared, void (*call)(const void *), const void *what) {
  // Any kernel may wait for other threads, so they are fibers. The closure travels as
  // the runtime's first array.
  struct Closure {
    void (*call)(const void *);
    const void *what;
  } closure = {call, what};
  const EmulatedKernel kernel = {"", [](const EmulatedArguments &a) { ((const Closure *)a.in[0])->call(((const Closure *)a.in[0])->what); }, 1};
  const void *in[] = {&closure};
  launch({{}, grid, block, (unsigned)shared, 1, 1}, &kernel, {in, nullptr, nullptr, nullptr, nullptr});
}

struct EmulatedGraph {
  std::vector<std::function<void()>> launches;
};
struct EmulatedStream {
  EmulatedGraph *capture; // what its launches go into, nullptr where they run at once
};
EmulatedGraph *emulated_capture(cudaStream_t stream) { return stream ? stream->capture : nullptr; }
void emulated_add(EmulatedGraph *graph, std::function<void()> launch) { graph->launches.push_back(std::move(launch)); }

struct EmulatedEvent {
  timespec at;
};

extern "C" {
cudaError_t cudaMalloc(void **p, size_t bytes) {
  *p = malloc(bytes ? bytes : 1);
  if (*p) memset(*p, 0xff, bytes); // what nobody wrote is NaN
  return *p ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFree(void *p) {
  free(p);
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind) {
  memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t) { return cudaMemcpy(to, from, bytes, kind); }
cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr, int device) {
  if (device != 0) return cudaErrorInvalidValue;
  *value = 3;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *, int, size_t) {
  *blocks = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
  *stream = new EmulatedStream{nullptr};
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (!stream || stream->capture) return cudaErrorInvalidValue;
  stream->capture = new EmulatedGraph();
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  *graph = stream->capture;
  stream->capture = nullptr;
  return *graph ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long) {
  *exec = new EmulatedGraph(*graph);
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t) {
  for (const auto &launch : graph->launches) launch();
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) { return cudaGraphDestroy(graph); }
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char *cudaGetErrorString(cudaError_t e) {
  switch (e) {
  case cudaSuccess: return "no error";
  case cudaErrorInvalidValue: return "invalid argument";
  case cudaErrorMemoryAllocation: return "out of memory";
  case cudaErrorNoDevice: return "no CUDA-capable device is detected";
  }
  return "unknown error";
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device) {
  if (device != 0) return cudaErrorInvalidValue;
  *p = {"host emulation", 9, 0, 3};
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t *e) {
  *e = new EmulatedEvent();
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t e) {
  delete e;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t) {
  clock_gettime(CLOCK_MONOTONIC, &e->at);
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to) {
  *ms = (float)(1e3 * (to->at.tv_sec - from->at.tv_sec) + 1e-6 * (to->at.tv_nsec - from->at.tv_nsec));
  return cudaSuccess;
}
}
