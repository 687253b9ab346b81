// The host's stand-in for CUDA's runtime library: see cuda_runtime.h.
#define EMULATED_LIBRARY
#include "cuda_runtime.h"

#include <functional>
#include <memory>
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
  launch(grid, block, (unsigned)shared, &kernel, {in, nullptr, nullptr, nullptr, nullptr});
}

struct EmulatedGraph {
  std::vector<std::function<void()>> launches;
};
struct EmulatedStream {
  EmulatedGraph *capture; // what its launches go into, nullptr where they run at once
};
EmulatedGraph *emulated_capture(cudaStream_t stream) { return stream ? stream->capture : nullptr; }
static void add(EmulatedGraph *graph, std::function<void()> launch) { graph->launches.push_back(std::move(launch)); }
void emulated_add(EmulatedGraph *graph, const EmulatedNode *launch) {
  add(graph, [kept = std::shared_ptr<const EmulatedNode>(launch)] { kept->run(); }); // graphs are copied
}
static cudaError_t on_stream(cudaStream_t stream, std::function<void()> work) {
  if (EmulatedGraph *graph = emulated_capture(stream))
    add(graph, std::move(work));
  else
    work();
  return cudaSuccess;
}

struct EmulatedEvent {
  timespec at;
};

static int devices() {
  static const char *said = getenv("TUNE_EMULATED_DEVICES");
  return said ? atoi(said) : 1;
}
static bool is_device(int device) { return device >= 0 && device < devices(); }
static thread_local int current_device = 0;

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
cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t) { return cudaMalloc(p, bytes); }
cudaError_t cudaFreeAsync(void *p, cudaStream_t stream) { return emulated_capture(stream) ? cudaSuccess : cudaFree(p); } // a graph keeps its memory
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind) {
  memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  return on_stream(stream, [=] { memcpy(to, from, bytes); });
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *p, cudaStream_t stream) {
  const cudaPitchedPtr to = p->dstPtr, from = p->srcPtr;
  const cudaExtent extent = p->extent;
  if (extent.width > to.pitch || extent.width > from.pitch || extent.height > to.ysize || extent.height > from.ysize) return cudaErrorInvalidValue;
  return on_stream(stream, [=] {
    for (size_t z = 0; z < extent.depth; z++)
      for (size_t y = 0; y < extent.height; y++)
        memcpy((char *)to.ptr + (z * to.ysize + y) * to.pitch, (const char *)from.ptr + (z * from.ysize + y) * from.pitch, extent.width);
  });
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  const cudaMemcpy3DParms p = {{(void *)from, from_pitch, width, height}, {to, to_pitch, width, height}, {width, height, 1}, kind};
  return cudaMemcpy3DAsync(&p, stream);
}
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind) {
  return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, nullptr);
}
cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes, cudaStream_t stream) {
  return on_stream(stream, [=] { memset(to, byte, bytes); });
}
cudaError_t cudaMemset(void *to, int byte, size_t bytes) { return cudaMemsetAsync(to, byte, bytes, nullptr); }
cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return cudaMalloc(p, *pitch * height);
}
cudaError_t cudaMallocManaged(void **p, size_t bytes, unsigned) { return cudaMalloc(p, bytes); }
cudaError_t cudaMallocHost(void **p, size_t bytes) { return cudaMalloc(p, bytes); }
cudaError_t cudaFreeHost(void *p) { return cudaFree(p); }
cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes, cudaStream_t stream) {
  if (!is_device(to_device) || !is_device(from_device)) return cudaErrorInvalidValue;
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
cudaError_t cudaGetDevice(int *device) {
  *device = current_device;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  if (!is_device(device)) return cudaErrorInvalidValue;
  current_device = device;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int *count) {
  *count = devices();
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
  if (!is_device(device) || !is_device(peer)) return cudaErrorInvalidValue;
  *can = device != peer;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) { return is_device(peer) ? cudaSuccess : cudaErrorInvalidValue; }
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr, int device) {
  if (!is_device(device)) return cudaErrorInvalidValue;
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
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int) { return cudaStreamCreateWithFlags(stream, flags); }
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  *least = *greatest = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithFlags(stream, 0); }
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
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
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
  *status = emulated_capture(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
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
cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
const char *cudaGetErrorString(cudaError_t e) {
  switch (e) {
  case cudaSuccess: return "no error";
  case cudaErrorInvalidValue: return "invalid argument";
  case cudaErrorMemoryAllocation: return "out of memory";
  case cudaErrorNoDevice: return "no CUDA-capable device is detected";
  case cudaErrorStreamCaptureUnsupported: return "operation not permitted when stream is capturing";
  }
  return "unknown error";
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device) {
  if (!is_device(device)) return cudaErrorInvalidValue;
  *p = {"host emulation", 9, 0, 3, 1 << 16};
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t *e) {
  *e = new EmulatedEvent();
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned) { return cudaEventCreate(e); }
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
