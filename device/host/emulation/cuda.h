// The declarations of CUDA's driver API that the examples use, so that a program can be
// checked where there is no CUDA. There is nothing behind them: a CUBIN does not run on
// the host.
#ifndef TUNE_EMULATED_CUDA_H
#define TUNE_EMULATED_CUDA_H
#include <stddef.h>
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef enum { CUDA_SUCCESS = 0 } CUresult;
typedef enum { CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 } CUfunction_attribute;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
CUresult cuInit(unsigned flags);
CUresult cuGetErrorString(CUresult e, const char **text);
CUresult cuDeviceGet(CUdevice *device, int ordinal);
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
CUresult cuCtxSetCurrent(CUcontext context);
CUresult cuModuleLoad(CUmodule *module, const char *file);
CUresult cuModuleGetFunction(CUfunction *f, CUmodule module, const char *name);
CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute attribute, int value);
CUresult cuMemAlloc(CUdeviceptr *p, size_t bytes);
CUresult cuMemsetD8(CUdeviceptr p, unsigned char value, size_t n);
CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream stream,
                        void **arguments, void **extra);
CUresult cuEventCreate(CUevent *e, unsigned flags);
CUresult cuEventRecord(CUevent e, CUstream stream);
CUresult cuEventSynchronize(CUevent e);
CUresult cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to);
#endif
