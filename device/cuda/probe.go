package cuda

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"stenciltune/kernels"
	"stenciltune/machine"
)

// Library is where a library was looked for and what was found.
type Library struct {
	Places []Place `json:"places"`
	File   string  `json:"file,omitempty"`  // that was loaded
	Error  string  `json:"error,omitempty"` // why it is of no use
}

// DriverProbe is what the driver says of itself and its GPUs.
type DriverProbe struct {
	Library
	Status      int        `json:"status,omitempty"` // of the call that failed (CUresult)
	CUDAVersion string     `json:"cuda_version,omitempty"`
	GPUs        []GPUProbe `json:"gpus"`
}

// GPUProbe is a GPU that the driver shows, and whether a context can be made on it.
type GPUProbe struct {
	machine.Machine
	Error string `json:"error,omitempty"`
}

// CompilerProbe is what NVRTC says of itself, and of a small kernel.
type CompilerProbe struct {
	Library
	Version string   `json:"version,omitempty"`
	Targets []string `json:"targets,omitempty"` // compute capabilities that it builds for
	// Kernel is why a small kernel for the newest target does not compile; "" = it does.
	Kernel string `json:"kernel,omitempty"`
}

// NVMLProbe is what the management library says.
type NVMLProbe struct {
	Library
	Driver string      `json:"driver,omitempty"`
	GPUs   []NVMLState `json:"gpus"`
}

// NVMLState is the state of a GPU; a field that it does not tell is 0.
type NVMLState struct {
	Index             int       `json:"index"` // NVML's own
	Name              string    `json:"name"`
	UUID              string    `json:"uuid"`
	SMClockHz         float64   `json:"sm_clock_hz"`
	MaxSMClockHz      float64   `json:"max_sm_clock_hz"`
	MemClockHz        float64   `json:"mem_clock_hz"`
	Temperature       float64   `json:"temperature_c"`
	PowerWatts        float64   `json:"power_w"`
	PowerLimitWatts   float64   `json:"power_limit_w"`
	DefaultLimitWatts float64   `json:"default_power_limit_w"`
	EnergyCounter     bool      `json:"energy_counter"`
	Throttle          []string  `json:"throttle,omitempty"`
	ECC               Mode      `json:"ecc"`
	Uncorrected       uint64    `json:"uncorrected_errors"` // since the driver was loaded
	MIG               Mode      `json:"mig"`
	Persistent        bool      `json:"persistence"`
	ComputeMode       uint32    `json:"compute_mode"` // nvmlComputeMode_t: 0 default, 2 prohibited, 3 exclusive process
	MemoryBytes       uint64    `json:"memory_bytes"`
	FreeBytes         uint64    `json:"free_bytes"`
	Processes         []Process `json:"processes,omitempty"`
}

// Mode is a mode that a reset changes.
type Mode struct {
	Known   bool `json:"known"`
	Now     bool `json:"now"`
	Pending bool `json:"pending"`
}

// Process is a process that computes on a GPU.
type Process struct {
	PID   uint32 `json:"pid"` // as the host numbers it
	Name  string `json:"name,omitempty"`
	Bytes uint64 `json:"bytes"`
}

// Probe asks one library for what `tune doctor` wants to know: "driver", "nvrtc" or "nvml". A
// library may hang or end the process, so this is for a process of its own.
func Probe(what string) (any, error) {
	switch what {
	case "driver":
		return probeDriver(), nil
	case "nvrtc":
		return probeCompiler(), nil
	case "nvml":
		return probeNVML(), nil
	}
	return nil, fmt.Errorf("cuda: no probe %q", what)
}

// lookup tells where a library was found, or not.
func lookup(l *library, err error) Library {
	if err == nil {
		return Library{Places: l.places, File: mapped(l.name)}
	}
	p := Library{Error: err.Error()}
	if e, ok := errors.AsType[*lookupError](err); ok {
		p.Places = e.places
	}
	return p
}

// mapped is the file that a library's name was found as, by this process's own map.
func mapped(name string) string {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return name
	}
	defer f.Close()
	stem, _, _ := strings.Cut(filepath.Base(name), ".so")
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if i := strings.IndexByte(lines.Text(), '/'); i >= 0 && strings.HasPrefix(filepath.Base(lines.Text()[i:]), stem+".so") {
			return lines.Text()[i:]
		}
	}
	return name
}

func probeDriver() DriverProbe {
	l, err := driver()
	p := DriverProbe{Library: lookup(l, err), GPUs: []GPUProbe{}}
	if err != nil {
		return p
	}
	if v, err := cuDriverGetVersion(); err == nil {
		p.CUDAVersion = fmt.Sprintf("%d.%d", v/1000, v%1000/10)
	}
	n, err := count()
	if e, ok := errors.AsType[*Error](err); ok {
		p.Status = int(e.Status)
	}
	if err != nil {
		p.Error = err.Error()
	}
	for i := range n {
		p.GPUs = append(p.GPUs, probeGPU(i))
	}
	return p
}

// probeGPU opens a GPU as a tune does.
func probeGPU(ordinal int) (p GPUProbe) {
	p.Index = ordinal
	g, err := Open(fmt.Sprint(ordinal))
	if err == nil {
		p.Machine = g.Machine()
		err = g.Close()
	} else if m, _, e := facts(ordinal); e == nil {
		p.Machine = m
	}
	if err != nil {
		p.Error = err.Error()
	}
	return p
}

func probeCompiler() CompilerProbe {
	l, err := nvrtc()
	p := CompilerProbe{Library: lookup(l, err)}
	if err != nil {
		return p
	}
	c, err := OpenCompiler()
	if err != nil {
		p.Error = err.Error()
		return p
	}
	p.Version, p.Targets = c.Version(), c.Targets()
	// A part of NVRTC, nvrtc-builtins, is opened by the first compilation, and may be missing.
	k := kernels.Kernel{Entry: "probe", Source: "extern \"C\" __global__ void probe(float *p) { p[threadIdx.x] = 1.0f; }\n"}
	cc := "7.0"
	if n := len(p.Targets); n > 0 {
		cc = p.Targets[n-1]
	}
	if _, err := c.Compile(context.Background(), k, machine.Machine{ComputeCapability: cc}); err != nil {
		p.Kernel = err.Error()
	}
	return p
}

func probeNVML() NVMLProbe {
	l, err := nvmlLibrary()
	p := NVMLProbe{Library: lookup(l, err), GPUs: []NVMLState{}}
	if err != nil {
		return p
	}
	p.Driver = (&nvml{lib: l}).driverVersion()
	n := new(uint32)
	if !l.has("nvmlDeviceGetCount_v2") || !l.has("nvmlDeviceGetHandleByIndex_v2") || l.call("nvmlDeviceGetCount_v2", uintptr(unsafe.Pointer(n))) != 0 {
		return p
	}
	for i := range *n {
		h := new(uintptr)
		if l.call("nvmlDeviceGetHandleByIndex_v2", uintptr(i), uintptr(unsafe.Pointer(h))) == 0 {
			p.GPUs = append(p.GPUs, (&nvml{lib: l, device: *h}).state(int(i)))
		}
	}
	return p
}

// state reads everything that does not change while a tune runs, and what it begins with.
func (n *nvml) state(index int) NVMLState {
	t := n.telemetry()
	s := NVMLState{
		Index: index, Name: n.text("nvmlDeviceGetName"), UUID: n.text("nvmlDeviceGetUUID"),
		SMClockHz: t.SMClockHz, MaxSMClockHz: 1e6 * float64(n.u32("nvmlDeviceGetMaxClockInfo", 1)), MemClockHz: t.MemClockHz,
		Temperature: t.Temperature, PowerWatts: t.PowerWatts, Throttle: t.Throttle,
		PowerLimitWatts:   1e-3 * float64(n.u32("nvmlDeviceGetPowerManagementLimit")),
		DefaultLimitWatts: 1e-3 * float64(n.u32("nvmlDeviceGetPowerManagementDefaultLimit")),
		ECC:               n.mode("nvmlDeviceGetEccMode"), MIG: n.mode("nvmlDeviceGetMigMode"),
		Persistent: n.u32("nvmlDeviceGetPersistenceMode") == 1, ComputeMode: n.u32("nvmlDeviceGetComputeMode"),
	}
	const uncorrected, volatile = 1, 0 // nvmlMemoryErrorType_t, nvmlEccCounterType_t
	s.Uncorrected, _ = n.u64("nvmlDeviceGetTotalEccErrors", uncorrected, volatile)
	_, s.EnergyCounter = n.millijoules()
	memory := new([3]uint64) // nvmlMemory_t: total, free, used
	if symbol := "nvmlDeviceGetMemoryInfo"; n.lib.has(symbol) && n.lib.call(symbol, n.device, uintptr(unsafe.Pointer(memory))) == 0 {
		s.MemoryBytes, s.FreeBytes = memory[0], memory[1]
	}
	for _, p := range n.processes() {
		s.Processes = append(s.Processes, Process{PID: p.pid, Name: n.processName(p.pid), Bytes: p.memory})
	}
	return s
}

// text asks for a name of the device.
func (n *nvml) text(symbol string) string {
	b := make([]byte, 96)
	if !n.lib.has(symbol) || n.lib.call(symbol, n.device, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b))) != 0 {
		return ""
	}
	return cString(b)
}

// processName is the program of a process, as far as NVML may tell.
func (n *nvml) processName(pid uint32) string {
	const symbol = "nvmlSystemGetProcessName"
	b := make([]byte, 256)
	if !n.lib.has(symbol) || n.lib.call(symbol, uintptr(pid), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b))) != 0 {
		return ""
	}
	return cString(b)
}

func (n *nvml) mode(symbol string) Mode {
	now, pending, ok := n.modes(symbol)
	return Mode{Known: ok, Now: now == 1, Pending: pending == 1}
}
