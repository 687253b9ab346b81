// The part of CUDA's runtime API that emitted sources and programs around them use, on the
// host: memory is the host's, streams run at once, events are a clock. There are as
// many devices as the variable TUNE_EMULATED_DEVICES says, 1 without it. nvcc beside
// this file compiles with it.
#ifndef TUNE_EMULATED_CUDA_RUNTIME_H
#define TUNE_EMULATED_CUDA_RUNTIME_H

#include <stddef.h>

typedef int cudaError_t;
typedef struct EmulatedStream *cudaStream_t;
typedef struct EmulatedEvent *cudaEvent_t;
typedef struct EmulatedGraph *cudaGraph_t, *cudaGraphExec_t;
enum { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2, cudaErrorNoDevice = 100, cudaErrorStreamCaptureUnsupported = 900 };
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount = 16 };
enum cudaStreamCaptureMode { cudaStreamCaptureModeRelaxed = 2 };
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone = 0, cudaStreamCaptureStatusActive = 1 };
enum { cudaStreamNonBlocking = 1 };
enum { cudaEventDisableTiming = 2 };
enum { cudaMemAttachGlobal = 1 };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
struct cudaDeviceProp {
  char name[256];
  int major, minor, multiProcessorCount, l2CacheSize;
};
struct cudaPitchedPtr {
  void *ptr;
  size_t pitch, xsize, ysize; // bytes from row to row, and of a row; rows from slice to slice
};
struct cudaExtent {
  size_t width, height, depth; // bytes, rows, slices
};
struct cudaMemcpy3DParms {
  struct cudaPitchedPtr srcPtr, dstPtr;
  struct cudaExtent extent;
  enum cudaMemcpyKind kind;
};

#ifdef __cplusplus
extern "C" {
#endif
cudaError_t cudaMalloc(void **p, size_t bytes);
cudaError_t cudaFree(void *p);
cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t stream);
cudaError_t cudaFreeAsync(void *p, cudaStream_t stream);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream);
cudaError_t cudaMemset(void *to, int byte, size_t bytes);
cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes, cudaStream_t stream);
cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height);
cudaError_t cudaMallocManaged(void **p, size_t bytes, unsigned flags);
cudaError_t cudaMallocHost(void **p, size_t bytes);
cudaError_t cudaFreeHost(void *p);
cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes, cudaStream_t stream);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel, int threads, size_t shared);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority);
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t e, unsigned flags);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorString(cudaError_t e);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device);
cudaError_t cudaEventCreate(cudaEvent_t *e);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t e);
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t e);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to);
#ifdef __cplusplus
}

#include "emulation.h"

#include <tuple>
#include <utility>

// Runs call(what) once for each thread of each block.
void emulated_launch(dim3 grid, dim3 block, size_t shared, void (*call)(const void *what), const void *what);

// The graph that a stream's launches go into, if any, or else nullptr.
EmulatedGraph *emulated_capture(cudaStream_t stream);

// A launch of a graph. (std::function would do, but its header takes a compiler half a second.)
struct EmulatedNode {
  virtual void run() const = 0;
  virtual ~EmulatedNode() {}
};
template <class F> struct EmulatedNodeOf : EmulatedNode {
  F what;
  explicit EmulatedNodeOf(F what) : what(what) {}
  void run() const override { what(); }
};
void emulated_add(EmulatedGraph *graph, const EmulatedNode *launch); // the graph owns it

template <class... A> struct EmulatedLaunch {
  void (*kernel)(A...);
  std::tuple<A...> arguments;
  template <size_t... I>
  EmulatedLaunch(void (*kernel)(A...), void **args, std::index_sequence<I...>) : kernel(kernel), arguments(*(A *)args[I]...) {}
  static void call(const void *what) {
    const EmulatedLaunch &l = *(const EmulatedLaunch *)what;
    std::apply(l.kernel, l.arguments);
  }
};

// CUDA's header has these too, so that programs need no cast.
template <class T> cudaError_t cudaMalloc(T **p, size_t bytes) { return cudaMalloc((void **)(void *)p, bytes); }
template <class T> cudaError_t cudaMallocPitch(T **p, size_t *pitch, size_t width, size_t height) { return cudaMallocPitch((void **)(void *)p, pitch, width, height); }
template <class T> cudaError_t cudaMallocManaged(T **p, size_t bytes, unsigned flags = cudaMemAttachGlobal) { return cudaMallocManaged((void **)(void *)p, bytes, flags); }
template <class T> cudaError_t cudaMallocHost(T **p, size_t bytes) { return cudaMallocHost((void **)(void *)p, bytes); }

#define TUNE_KERNEL(kernel) kernel // emulated launches need the kernel's type

template <class... A>
cudaError_t cudaLaunchKernel(void (*kernel)(A...), dim3 grid, dim3 block, void **args, size_t shared = 0, cudaStream_t stream = nullptr) {
  if (block.x * block.y * block.z < 1 || block.x * block.y * block.z > 1024 || shared > 227 << 10) return cudaErrorInvalidValue;
  const EmulatedLaunch<A...> l(kernel, args, std::index_sequence_for<A...>());
  if (EmulatedGraph *graph = emulated_capture(stream)) {
    const auto again = [=] { emulated_launch(grid, block, shared, l.call, &l); };
    emulated_add(graph, new EmulatedNodeOf<decltype(again)>(again));
  } else
    emulated_launch(grid, block, shared, l.call, &l);
  return cudaSuccess;
}

template <class F> cudaError_t cudaFuncSetAttribute(F *, cudaFuncAttribute, int value) {
  return value <= 227 << 10 ? cudaSuccess : cudaErrorInvalidValue;
}
#endif
#endif
