package cuda

import (
	"fmt"
	"sync"
	"unsafe"

	"stenciltune/device"
	"stenciltune/timing"
)

var nvmlSymbols = []string{"nvmlInit_v2", "nvmlDeviceGetHandleByPciBusId_v2"}

// nvmlOptional: whatever is missing leaves its field zero.
var nvmlOptional = []string{
	"nvmlSystemGetDriverVersion", "nvmlDeviceGetClockInfo", "nvmlDeviceGetTemperature", "nvmlDeviceGetPowerUsage",
	"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons", "nvmlDeviceGetMigMode",
	"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetCount_v2", "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetUUID",
	"nvmlDeviceGetName", "nvmlDeviceGetMaxClockInfo", "nvmlDeviceGetPowerManagementLimit", "nvmlDeviceGetPowerManagementDefaultLimit",
	"nvmlDeviceGetEccMode", "nvmlDeviceGetTotalEccErrors", "nvmlDeviceGetPersistenceMode", "nvmlDeviceGetComputeMode",
	"nvmlDeviceGetMemoryInfo", "nvmlSystemGetProcessName", "nvmlDeviceGetTotalEnergyConsumption",
}

// nvml reads a GPU's state through the management library. It changes nothing,
// and is safe for concurrent use (NVML API reference, "thread safe").
type nvml struct {
	lib    *library
	device uintptr
}

var nvmlLibrary = sync.OnceValues(func() (*library, error) {
	l, err := openLibrary("TUNE_LIBNVML", "NVML, the driver's management library,", "install the NVIDIA driver", []string{"libnvidia-ml.so.1"}, nvmlSymbols, nvmlOptional)
	if err != nil {
		return nil, err
	}
	if r := l.call("nvmlInit_v2"); r != 0 {
		return nil, &lookupError{fmt.Errorf("%w: nvmlInit_v2: %s", device.ErrMissing, nvmlStatus(r)), l.places}
	}
	return l, nil
})

// nvmlStatus names the statuses of NVML that say what is wrong with an installation (nvmlReturn_t).
func nvmlStatus(r int) string {
	names := map[int]string{3: "not supported", 4: "no permission", 9: "the driver is not loaded", 12: "a library is missing", 15: "the GPU is lost",
		16: "the GPU needs a reset", 17: "the operating system blocks the driver", 18: "the library is of another version than the driver"}
	if name, ok := names[r]; ok {
		return fmt.Sprintf("%s (NVML error %d)", name, r)
	}
	return fmt.Sprintf("NVML error %d", r)
}

// openNVML finds a GPU by PCI address, never by index: NVML and CUDA count
// differently. nil if there is no NVML.
func openNVML(pci string) *nvml {
	l, err := nvmlLibrary()
	if err != nil {
		return nil
	}
	n := &nvml{lib: l}
	id := append([]byte(pci), 0)
	h := new(uintptr)
	if l.call("nvmlDeviceGetHandleByPciBusId_v2", uintptr(unsafe.Pointer(&id[0])), uintptr(unsafe.Pointer(h))) != 0 {
		return nil
	}
	n.device = *h
	return n
}

func (n *nvml) driverVersion() string {
	b := make([]byte, 96)
	if !n.lib.has("nvmlSystemGetDriverVersion") || n.lib.call("nvmlSystemGetDriverVersion", uintptr(unsafe.Pointer(&b[0])), uintptr(len(b))) != 0 {
		return ""
	}
	return cString(b)
}

// u32 asks for one unsigned int, with the arguments between device and result.
func (n *nvml) u32(symbol string, args ...uintptr) uint32 {
	v := new(uint32)
	if !n.lib.has(symbol) {
		return 0
	}
	r := 1
	switch len(args) {
	case 0:
		r = n.lib.call(symbol, n.device, uintptr(unsafe.Pointer(v)))
	case 1:
		r = n.lib.call(symbol, n.device, args[0], uintptr(unsafe.Pointer(v)))
	}
	if r != 0 {
		return 0
	}
	return *v
}

// u64 is u32 for an unsigned long long, with the arguments between device and result, at most
// two; ok tells whether the library answered.
func (n *nvml) u64(symbol string, args ...uintptr) (value uint64, ok bool) {
	v := new(uint64)
	if !n.lib.has(symbol) {
		return 0, false
	}
	r := 1
	switch len(args) {
	case 0:
		r = n.lib.call(symbol, n.device, uintptr(unsafe.Pointer(v)))
	case 2:
		r = n.lib.call(symbol, n.device, args[0], args[1], uintptr(unsafe.Pointer(v)))
	}
	return *v, r == 0
}

// modes asks for a mode as it is and as it will be after a reset (nvmlEnableState_t).
func (n *nvml) modes(symbol string) (now, pending uint32, ok bool) {
	a, b := new(uint32), new(uint32)
	ok = n.lib.has(symbol) && n.lib.call(symbol, n.device, uintptr(unsafe.Pointer(a)), uintptr(unsafe.Pointer(b))) == 0
	return *a, *b, ok
}

func (n *nvml) mig() bool {
	now, _, ok := n.modes("nvmlDeviceGetMigMode")
	return ok && now == 1
}

// Bits of nvmlClocksEventReasons (nvml.h) that mean slower clocks than the
// device could run; idle and user-set clocks are not among them.
var throttleBits = []struct {
	bit  uint64
	name string
	hard bool // the hardware protects itself: the sample is worthless
}{
	{0x4, timing.PowerCap, false},
	{0x8, "hardware slowdown", true},
	{0x20, "thermal slowdown", true},
	{0x40, "hardware thermal slowdown", true},
	{0x80, "hardware power brake", true},
}

// throttle is the reasons in force, nil if NVML does not tell, and whether one of them spoils samples.
func (n *nvml) throttle() (reasons []string, hard bool) {
	symbol := "nvmlDeviceGetCurrentClocksEventReasons"
	if !n.lib.has(symbol) {
		symbol = "nvmlDeviceGetCurrentClocksThrottleReasons"
	}
	v := new(uint64)
	if !n.lib.has(symbol) || n.lib.call(symbol, n.device, uintptr(unsafe.Pointer(v))) != 0 {
		return nil, false
	}
	reasons = []string{}
	for _, t := range throttleBits {
		if *v&t.bit != 0 {
			reasons = append(reasons, t.name)
			hard = hard || t.hard
		}
	}
	return reasons, hard
}

// processInfo is nvmlProcessInfo_t (nvml.h, version 3).
type processInfo struct {
	pid         uint32
	_           uint32
	memory      uint64
	gpuInstance uint32
	computeInst uint32
}

// processes lists what computes on the GPU, 64 at most.
func (n *nvml) processes() []processInfo {
	const symbol = "nvmlDeviceGetComputeRunningProcesses_v3"
	if !n.lib.has(symbol) {
		return nil
	}
	list := make([]processInfo, 64)
	count := new(uint32)
	*count = uint32(len(list))
	if n.lib.call(symbol, n.device, uintptr(unsafe.Pointer(count)), uintptr(unsafe.Pointer(&list[0]))) != 0 {
		return nil
	}
	return list[:min(int(*count), len(list))]
}

// others counts the processes on the GPU beside this one, which is always among
// them: by number, not by pid, since a container sees other pids than NVML does.
func (n *nvml) others() int { return max(len(n.processes())-1, 0) }

// millijoules are those drawn since the driver was loaded, by the whole board; false on GPUs before
// Volta (NVML API reference, nvmlDeviceGetTotalEnergyConsumption).
func (n *nvml) millijoules() (uint64, bool) { return n.u64("nvmlDeviceGetTotalEnergyConsumption") }

// telemetry reads everything (clock ids: 1 = SM, 2 = memory; sensor 0 = the GPU).
func (n *nvml) telemetry() device.Telemetry {
	t := device.Telemetry{
		SMClockHz:   1e6 * float64(n.u32("nvmlDeviceGetClockInfo", 1)),
		MemClockHz:  1e6 * float64(n.u32("nvmlDeviceGetClockInfo", 2)),
		Temperature: float64(n.u32("nvmlDeviceGetTemperature", 0)),
		PowerWatts:  1e-3 * float64(n.u32("nvmlDeviceGetPowerUsage")),
		Processes:   n.others(),
	}
	t.Throttle, _ = n.throttle()
	return t
}
