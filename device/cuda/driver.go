package cuda

import (
	"runtime"
	"sync"
	"unsafe"
)

// Handles of the driver API.
type (
	cuDevice   int32
	cuContext  uintptr
	cuModule   uintptr
	cuFunction uintptr
	cuEvent    uintptr
	devicePtr  uint64 // CUdeviceptr
)

// CUdevice_attribute numbers (cuda.h).
const (
	attrMaxThreadsPerBlock     = 1
	attrMaxBlockDimX           = 2
	attrMaxGridDimX            = 5
	attrMaxSharedPerBlock      = 8
	attrWarpSize               = 10
	attrMaxRegistersPerBlock   = 12
	attrClockRate              = 13 // kHz
	attrMultiprocessorCount    = 16
	attrECCEnabled             = 32
	attrMemoryClockRate        = 36 // kHz
	attrGlobalMemoryBusWidth   = 37 // bits
	attrL2CacheSize            = 38
	attrMaxThreadsPerSM        = 39
	attrComputeCapabilityMajor = 75
	attrComputeCapabilityMinor = 76
	attrMaxSharedPerSM         = 81
	attrMaxRegistersPerSM      = 82
	attrSingleToDouble         = 87
	attrMaxSharedOptin         = 97
	attrMaxBlocksPerSM         = 106
	attrReservedShared         = 111
)

// CUfunction_attribute numbers.
const (
	funcSharedBytes      = 1
	funcLocalBytes       = 3
	funcRegisters        = 4
	funcMaxDynamicShared = 8
	eventDefault         = 0
)

// driverSymbols are the calls used, by the names the library exports.
var driverSymbols = []string{
	"cuInit", "cuDriverGetVersion", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceGetAttribute",
	"cuDeviceTotalMem_v2", "cuDeviceGetPCIBusId", "cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2",
	"cuCtxSetCurrent", "cuMemGetInfo_v2", "cuMemAlloc_v2", "cuMemFree_v2", "cuMemsetD32Async", "cuMemcpyDtoH_v2",
	"cuMemcpyHtoD_v2", "cuMemcpyDtoDAsync_v2", "cuModuleLoadData", "cuModuleUnload", "cuModuleGetFunction", "cuFuncGetAttribute",
	"cuFuncSetAttribute", "cuOccupancyMaxActiveBlocksPerMultiprocessor", "cuLaunchKernel",
	"cuEventCreate", "cuEventDestroy_v2", "cuEventRecord", "cuEventQuery", "cuEventElapsedTime",
}

var driver = sync.OnceValues(func() (*library, error) {
	return openLibrary("TUNE_LIBCUDA", "the NVIDIA driver", "install the NVIDIA driver",
		[]string{"libcuda.so.1"}, driverSymbols, []string{"cuDeviceGetUuid_v2", "cuDeviceGetUuid", "cuLaunchKernelEx"})
})

// cu calls a driver function and turns its status into an error. A pointer is
// passed as uintptr(unsafe.Pointer(p)) in the argument list itself: the directive
// then moves what it points to to the heap and keeps it alive during the call.
//
//go:uintptrescapes
func cu(symbol string, args ...uintptr) error {
	l, err := driver()
	if err != nil {
		return err
	}
	if s := Status(l.call(symbol, args...)); s != success {
		return &Error{symbol, s}
	}
	return nil
}

// cString copies a NUL-terminated byte array.
func cString(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

func cuInit() error { return cu("cuInit", 0) }

func cuDriverGetVersion() (int, error) {
	v := new(int32)
	err := cu("cuDriverGetVersion", uintptr(unsafe.Pointer(v)))
	return int(*v), err
}

func cuDeviceGetCount() (int, error) {
	n := new(int32)
	err := cu("cuDeviceGetCount", uintptr(unsafe.Pointer(n)))
	return int(*n), err
}

func cuDeviceGet(ordinal int) (cuDevice, error) {
	d := new(cuDevice)
	err := cu("cuDeviceGet", uintptr(unsafe.Pointer(d)), uintptr(ordinal))
	return *d, err
}

func cuDeviceGetName(d cuDevice) (string, error) {
	b := make([]byte, 256)
	err := cu("cuDeviceGetName", uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), uintptr(d))
	return cString(b), err
}

func cuDeviceGetAttribute(attribute int, d cuDevice) (int, error) {
	v := new(int32)
	err := cu("cuDeviceGetAttribute", uintptr(unsafe.Pointer(v)), uintptr(attribute), uintptr(d))
	return int(*v), err
}

func cuDeviceTotalMem(d cuDevice) (int64, error) {
	v := new(uint64)
	err := cu("cuDeviceTotalMem_v2", uintptr(unsafe.Pointer(v)), uintptr(d))
	return int64(*v), err
}

func cuDeviceGetPCIBusId(d cuDevice) (string, error) {
	b := make([]byte, 64)
	err := cu("cuDeviceGetPCIBusId", uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), uintptr(d))
	return cString(b), err
}

func cuDeviceGetUuid(d cuDevice) ([16]byte, error) {
	u := new([16]byte)
	l, err := driver()
	if err != nil {
		return *u, err
	}
	symbol := "cuDeviceGetUuid_v2"
	if !l.has(symbol) {
		symbol = "cuDeviceGetUuid"
	}
	if !l.has(symbol) {
		return *u, &Error{symbol, 500}
	}
	err = cu(symbol, uintptr(unsafe.Pointer(u)), uintptr(d))
	return *u, err
}

func cuDevicePrimaryCtxRetain(d cuDevice) (cuContext, error) {
	c := new(cuContext)
	err := cu("cuDevicePrimaryCtxRetain", uintptr(unsafe.Pointer(c)), uintptr(d))
	return *c, err
}

func cuDevicePrimaryCtxRelease(d cuDevice) error {
	return cu("cuDevicePrimaryCtxRelease_v2", uintptr(d))
}
func cuCtxSetCurrent(c cuContext) error { return cu("cuCtxSetCurrent", uintptr(c)) }

func cuMemGetInfo() (free, total int64, err error) {
	f, t := new(uint64), new(uint64)
	err = cu("cuMemGetInfo_v2", uintptr(unsafe.Pointer(f)), uintptr(unsafe.Pointer(t)))
	return int64(*f), int64(*t), err
}

func cuMemAlloc(bytes int64) (devicePtr, error) {
	p := new(devicePtr)
	err := cu("cuMemAlloc_v2", uintptr(unsafe.Pointer(p)), uintptr(bytes))
	return *p, err
}

func cuMemFree(p devicePtr) error { return cu("cuMemFree_v2", uintptr(p)) }

// cuMemsetD32Async fills words 32-bit words on the default stream.
func cuMemsetD32Async(p devicePtr, value uint32, words int64) error {
	return cu("cuMemsetD32Async", uintptr(p), uintptr(value), uintptr(words), 0)
}

func cuMemcpyDtoH[T any](dst []T, src devicePtr) error {
	defer runtime.KeepAlive(dst)
	return cu("cuMemcpyDtoH_v2", uintptr(unsafe.Pointer(&dst[0])), uintptr(src), uintptr(len(dst))*unsafe.Sizeof(dst[0]))
}

func cuMemcpyDtoDAsync(dst, src devicePtr, bytes int64) error {
	return cu("cuMemcpyDtoDAsync_v2", uintptr(dst), uintptr(src), uintptr(bytes), 0)
}

// cuModuleLoadData loads a CUBIN, or PTX, which must end in NUL.
func cuModuleLoadData(image []byte) (cuModule, error) {
	m := new(cuModule)
	defer runtime.KeepAlive(image)
	err := cu("cuModuleLoadData", uintptr(unsafe.Pointer(m)), uintptr(unsafe.Pointer(&image[0])))
	return *m, err
}

func cuModuleUnload(m cuModule) error { return cu("cuModuleUnload", uintptr(m)) }

func cuModuleGetFunction(m cuModule, name string) (cuFunction, error) {
	f := new(cuFunction)
	b := append([]byte(name), 0)
	defer runtime.KeepAlive(b)
	err := cu("cuModuleGetFunction", uintptr(unsafe.Pointer(f)), uintptr(m), uintptr(unsafe.Pointer(&b[0])))
	return *f, err
}

func cuFuncGetAttribute(attribute int, f cuFunction) (int, error) {
	v := new(int32)
	err := cu("cuFuncGetAttribute", uintptr(unsafe.Pointer(v)), uintptr(attribute), uintptr(f))
	return int(*v), err
}

func cuFuncSetAttribute(f cuFunction, attribute, value int) error {
	return cu("cuFuncSetAttribute", uintptr(f), uintptr(attribute), uintptr(value))
}

func cuOccupancy(f cuFunction, threads, shared int) (int, error) {
	n := new(int32)
	err := cu("cuOccupancyMaxActiveBlocksPerMultiprocessor", uintptr(unsafe.Pointer(n)), uintptr(f), uintptr(threads), uintptr(shared))
	return int(*n), err
}

func cuEventCreate() (cuEvent, error) {
	e := new(cuEvent)
	err := cu("cuEventCreate", uintptr(unsafe.Pointer(e)), eventDefault)
	return *e, err
}

func cuEventDestroy(e cuEvent) error { return cu("cuEventDestroy_v2", uintptr(e)) }
func cuEventRecord(e cuEvent) error  { return cu("cuEventRecord", uintptr(e), 0) }

// cuEventQuery tells whether an event has happened.
func cuEventQuery(e cuEvent) (bool, error) {
	l, err := driver()
	if err != nil {
		return false, err
	}
	switch s := Status(l.call("cuEventQuery", uintptr(e))); s {
	case success:
		return true, nil
	case notReady:
		return false, nil
	default:
		return false, &Error{"cuEventQuery", s}
	}
}

// cuEventElapsed is the seconds between two events that have happened.
func cuEventElapsed(from, to cuEvent) (float64, error) {
	ms := new(float32)
	err := cu("cuEventElapsedTime", uintptr(unsafe.Pointer(ms)), uintptr(from), uintptr(to))
	return float64(*ms) / 1e3, err
}

// arguments is the block of a launch's parameters: values and the array of
// pointers to them that cuLaunchKernel wants. It is allocated once and pinned,
// since the driver reads it after the Go call has begun.
type arguments struct {
	values [maxArguments]uint64
	table  [maxArguments]unsafe.Pointer
	early  launchConfig // of cuLaunchKernelEx, which is told of the rest by it
	pinner runtime.Pinner
	n      int
}

// launchConfig is CUlaunchConfig of cuda.h with one attribute.
type launchConfig struct {
	grid, block [3]uint32
	shared, _   uint32
	stream      uintptr
	attributes  *launchAttribute
	count       uint32
	attribute   launchAttribute // what attributes points to
}

// launchAttribute is CUlaunchAttribute of cuda.h.
type launchAttribute struct {
	id, _ uint32
	value [8]uint64
}

// programmatic is CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION: the launch may begin when all blocks of the one before have
// ended, before what they wrote is seen by all.
const programmatic = 6

func newArguments() *arguments {
	a := new(arguments)
	a.pinner.Pin(a)
	for i := range a.table {
		a.table[i] = unsafe.Pointer(&a.values[i])
	}
	a.early.attribute.id, a.early.attribute.value[0] = programmatic, 1
	a.early.attributes, a.early.count = &a.early.attribute, 1
	return a
}

// maxArguments is beyond what a stencil file may ask for: 64 fields, outputs, arrays,
// their lengths and scalars, and as many lists of four; the extents, the iteration and the step scalars.
const maxArguments = 9*64 + 5

// set fills in the parameters: 8-byte values for pointers, long long and double,
// 4-byte ones for int; both little-endian in the first bytes of a word.
func (a *arguments) set(values ...uint64) *arguments {
	a.n = copy(a.values[:], values)
	return a
}

func (a *arguments) free() { a.pinner.Unpin() }

// cuLaunchKernel launches on the default stream.
func cuLaunchKernel(f cuFunction, grid, block [3]int, shared int, a *arguments) error {
	return cu("cuLaunchKernel", uintptr(f),
		uintptr(grid[0]), uintptr(grid[1]), uintptr(grid[2]),
		uintptr(block[0]), uintptr(block[1]), uintptr(block[2]),
		uintptr(shared), 0, uintptr(unsafe.Pointer(&a.table[0])), 0)
}

// launchesEarly tells whether the driver has cuLaunchKernelEx (CUDA 11.8, the first for compute capability 9.0).
func launchesEarly() bool {
	l, err := driver()
	return err == nil && l.has("cuLaunchKernelEx")
}

// cuLaunchKernelEx launches on the default stream a kernel that waits for the launch before it.
func cuLaunchKernelEx(f cuFunction, grid, block [3]int, shared int, a *arguments) error {
	c := &a.early
	for i := range 3 {
		c.grid[i], c.block[i] = uint32(grid[i]), uint32(block[i])
	}
	c.shared = uint32(shared)
	return cu("cuLaunchKernelEx", uintptr(unsafe.Pointer(c)), uintptr(f), uintptr(unsafe.Pointer(&a.table[0])), 0)
}
