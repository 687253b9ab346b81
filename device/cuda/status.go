package cuda

import "fmt"

// Status is a CUresult of the driver.
type Status int

// The statuses this package treats specially (CUDA driver API, CUresult).
const (
	success         Status = 0
	invalidValue    Status = 1
	outOfMemory     Status = 2
	notReady        Status = 600
	outOfResources  Status = 701
	launchTimeout   Status = 702
	eccUncorrected  Status = 214
	deviceLostFirst Status = 999
)

var statusNames = map[Status]string{
	1: "CUDA_ERROR_INVALID_VALUE", 2: "CUDA_ERROR_OUT_OF_MEMORY", 3: "CUDA_ERROR_NOT_INITIALIZED", 4: "CUDA_ERROR_DEINITIALIZED",
	34: "CUDA_ERROR_STUB_LIBRARY", 46: "CUDA_ERROR_DEVICE_UNAVAILABLE", 100: "CUDA_ERROR_NO_DEVICE", 101: "CUDA_ERROR_INVALID_DEVICE",
	200: "CUDA_ERROR_INVALID_IMAGE", 201: "CUDA_ERROR_INVALID_CONTEXT", 209: "CUDA_ERROR_NO_BINARY_FOR_GPU",
	214: "CUDA_ERROR_ECC_UNCORRECTABLE", 218: "CUDA_ERROR_INVALID_PTX", 222: "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
	400: "CUDA_ERROR_INVALID_HANDLE", 500: "CUDA_ERROR_NOT_FOUND", 600: "CUDA_ERROR_NOT_READY", 700: "CUDA_ERROR_ILLEGAL_ADDRESS",
	701: "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", 702: "CUDA_ERROR_LAUNCH_TIMEOUT", 710: "CUDA_ERROR_ASSERT",
	714: "CUDA_ERROR_HARDWARE_STACK_ERROR", 715: "CUDA_ERROR_ILLEGAL_INSTRUCTION", 716: "CUDA_ERROR_MISALIGNED_ADDRESS",
	717: "CUDA_ERROR_INVALID_ADDRESS_SPACE", 718: "CUDA_ERROR_INVALID_PC", 719: "CUDA_ERROR_LAUNCH_FAILED",
	226: "CUDA_ERROR_CONTAINED", 721: "CUDA_ERROR_TENSOR_MEMORY_LEAK", 803: "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", 999: "CUDA_ERROR_UNKNOWN",
}

var remedies = map[Status]string{
	2:   "choose a smaller grid or free the GPU's memory",
	46:  "another process holds the GPU exclusively",
	100: "no GPU is visible: check nvidia-smi and CUDA_VISIBLE_DEVICES",
	101: "check CUDA_VISIBLE_DEVICES",
	214: "the GPU's memory is failing: do not trust it",
	222: "the driver is older than the compiler: update the driver",
	702: "a display watchdog may have ended the kernel",
	803: "driver and library versions differ: reboot or reinstall the driver",
}

// String is the status's name and number.
func (s Status) String() string {
	name, ok := statusNames[s]
	if !ok {
		name = "CUDA_ERROR"
	}
	return fmt.Sprintf("%s (%d)", name, int(s))
}

// Sticky tells whether the status leaves the process unfit for CUDA: the driver
// API documents these as "the process must be terminated and relaunched".
func (s Status) Sticky() bool {
	switch s {
	case eccUncorrected, 226, 700, launchTimeout, 710, 714, 715, 716, 717, 718, 719, 721, deviceLostFirst:
		return true
	}
	return false
}

// gone tells whether the device itself is lost, whatever kernel ran.
func (s Status) gone() bool {
	switch s {
	case 3, 4, 46, 100, 101, 201, eccUncorrected, 709:
		return true
	}
	return false
}

// ErrSticky is in the chain of every error after which the process must end;
// each also has a method Sticky that says so.
var ErrSticky error = stickyError{}

type stickyError struct{}

func (stickyError) Error() string { return "the CUDA context is poisoned" }
func (stickyError) Sticky() bool  { return true }

// Error is a driver call that failed.
type Error struct {
	Call   string
	Status Status
}

func (e *Error) Error() string {
	t := fmt.Sprintf("%s: %s", e.Call, e.Status)
	if r := remedies[e.Status]; r != "" {
		t += "; " + r
	}
	return t
}

// Sticky tells whether the process must end.
func (e *Error) Sticky() bool { return e.Status.Sticky() }

// Is makes errors.Is(err, ErrSticky) tell.
func (e *Error) Is(target error) bool { return target == ErrSticky && e.Status.Sticky() }
