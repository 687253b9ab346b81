package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stenciltune/cache"
	"stenciltune/device"
	"stenciltune/device/cuda"
	"stenciltune/machine"
	"stenciltune/tuner"
)

// patient is a machine with one sound GPU, to be made ill.
type patient struct {
	o      Options
	driver cuda.DriverProbe
	nvrtc  cuda.CompilerProbe
	nvml   cuda.NVMLProbe
	fails  map[string]error // of a library's process
	root   string
	env    map[string]string
	fs     unix.Statfs_t
	refuse string // a part of the paths that may not be used
	cc     error  // of the host's compiler
}

func (p *patient) file(t *testing.T, path, text string) {
	t.Helper()
	path = filepath.Join(p.root, path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func (p *patient) gone(path string) { os.RemoveAll(filepath.Join(p.root, path)) }

func healthy(t *testing.T) *patient {
	p := &patient{root: t.TempDir(), fails: map[string]error{}, env: map[string]string{"HOME": t.TempDir(), "TMPDIR": t.TempDir()}}
	p.o.Store = filepath.Join(t.TempDir(), "store.db")
	p.o.Limit = 10 * time.Second
	p.fs.Bavail, p.fs.Bsize = 1<<20, 1<<12
	p.file(t, "proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Release Build\nGCC version: 13\n")
	p.file(t, "proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n")
	p.file(t, "dev/nvidiactl", "")
	p.file(t, "dev/nvidia0", "")
	p.file(t, "sys/bus/pci/devices/0000:41:00.0/vendor", "0x10de\n")
	p.file(t, "sys/bus/pci/devices/0000:41:00.0/class", "0x030200\n")
	found := cuda.Library{File: "/usr/lib/libcuda.so.580.65.06", Places: []cuda.Place{{File: "libcuda.so.1", Result: cuda.Opened}}}
	p.driver = cuda.DriverProbe{Library: found, CUDAVersion: "13.0", GPUs: []cuda.GPUProbe{
		{Machine: machine.Machine{Name: "NVIDIA H200", ComputeCapability: "9.0", UUID: "GPU-0123456789", PCI: "0000:41:00.0", MemoryBytes: 1 << 37, FreeBytes: 1 << 37}},
		{Machine: machine.Machine{Index: 1, Name: "NVIDIA H200", ComputeCapability: "9.0", UUID: "GPU-9876543210", PCI: "0000:42:00.0"}}}}
	p.nvrtc = cuda.CompilerProbe{Library: cuda.Library{File: "/usr/lib/libnvrtc.so.13", Places: found.Places}, Version: "NVRTC 13.0", Targets: []string{"7.5", "9.0"}}
	p.nvml = cuda.NVMLProbe{Library: found, Driver: "580.65.06", GPUs: []cuda.NVMLState{{Name: "NVIDIA H200", SMClockHz: 1.98e9, MaxSMClockHz: 1.98e9, PowerWatts: 80,
		PowerLimitWatts: 700, DefaultLimitWatts: 700, EnergyCounter: true, ECC: cuda.Mode{Known: true, Now: true, Pending: true}, MIG: cuda.Mode{Known: true}, Persistent: true,
		MemoryBytes: 1 << 37, FreeBytes: 1 << 37}}}
	return p
}

// missing makes a library one that is not there.
func missing(l *cuda.Library, name string) {
	*l = cuda.Library{Error: device.ErrMissing.Error() + ": " + name + " not found", Places: []cuda.Place{{File: name, Result: "no such file"}, {File: "/opt/" + name, Result: "no such file"}}}
}

func (p *patient) examine() Report {
	p.o.Ask = func(_ context.Context, what string, answer any) error {
		if err := p.fails[what]; err != nil {
			return err
		}
		b, err := json.Marshal(map[string]any{"driver": p.driver, "nvrtc": p.nvrtc, "nvml": p.nvml}[what]) // as between processes
		if err != nil {
			return err
		}
		return json.Unmarshal(b, answer)
	}
	p.o.sys = system{root: p.root, host: func() (string, error) { return "g++ 14", p.cc }, getenv: func(name string) string { return p.env[name] },
		statfs: func(string) (unix.Statfs_t, error) { return p.fs, nil },
		access: func(path string, _ uint32) error {
			if p.refuse != "" && strings.Contains(path, p.refuse) {
				return unix.EACCES
			}
			return nil
		}}
	return Examine(context.Background(), p.o)
}

func TestASoundMachineHasNothingButOK(t *testing.T) {
	p := healthy(t)
	r := p.examine()
	var checks []string
	for _, f := range r.Findings {
		checks = append(checks, f.Check)
		if f.State != OK {
			t.Errorf("%+v", f)
		}
	}
	want := []string{checkDriver, checkGPU, checkGPU, checkPermissions, checkNVRTC, checkNVML, checkClocks, checkPower, checkECC, checkMIG, checkPersistence,
		checkProcesses, checkMemory, checkCache, checkHost, checkTemporary, checkStore}
	if !slices.Equal(checks, want) {
		t.Errorf("%v", checks)
	}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(p.o.Store); err == nil {
		t.Error("it made a store")
	}
	if left, _ := os.ReadDir(p.env["TMPDIR"]); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}

// TestASoundMachineIsSoundForEveryDevice: that a tune uses no GPU is nothing to tell.
func TestASoundMachineIsSoundForEveryDevice(t *testing.T) {
	for _, name := range []string{"host", "replay:h200", "1", "GPU-9876543210", "gpu-98765432", "42:00.0"} {
		p := healthy(t)
		p.o.Device = name
		for _, f := range p.examine().Findings {
			if f.State != OK {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
}

// TestEveryFindingIsTold makes a machine ill in one way, and wants to be told of that alone.
func TestEveryFindingIsTold(t *testing.T) {
	silent := fmt.Errorf("%w within 20 s", tuner.ErrNoAnswer)
	gpu := func(f func(*cuda.NVMLState)) func(*testing.T, *patient) {
		return func(_ *testing.T, p *patient) { f(&p.nvml.GPUs[0]) }
	}
	for name, c := range map[string]struct {
		ill   func(t *testing.T, p *patient)
		check string
		state State
		found string
		mend  string
		code  error // of Err
	}{
		"driver hangs":   {func(_ *testing.T, p *patient) { p.fails["driver"] = silent }, checkDriver, Problem, "no answer within 20 s", "dmesg", device.ErrMissing},
		"driver crashes": {func(_ *testing.T, p *patient) { p.fails["driver"] = errors.New("signal: aborted") }, checkDriver, Problem, "signal: aborted", "install the driver anew", device.ErrMissing},
		"in a container without its library": {func(_ *testing.T, p *patient) { missing(&p.driver.Library, "libcuda.so.1"); p.driver.GPUs = nil },
			checkDriver, Problem, "kernel module 580.65.06 is loaded, but its library is not here", "--gpus all", device.ErrMissing},
		"driver too old": {func(_ *testing.T, p *patient) {
			p.driver = cuda.DriverProbe{Library: cuda.Library{Error: device.ErrMissing.Error() + ": the NVIDIA driver in libcuda.so.1 has no cuMemcpyDtoDAsync_v2: it is too old; install the NVIDIA driver",
				Places: []cuda.Place{{File: "libcuda.so.1", Result: "has no cuMemcpyDtoDAsync_v2"}}}}
		}, checkDriver, Problem, "the NVIDIA driver in libcuda.so.1 has no", "update the driver", device.ErrMissing},
		"driver named wrongly": {func(_ *testing.T, p *patient) {
			missing(&p.driver.Library, "libcuda.so.1")
			p.driver.GPUs, p.env["TUNE_LIBCUDA"] = nil, "/opt/libcuda.so.1"
		}, checkDriver, Problem, "libcuda.so.1 not found", "unset TUNE_LIBCUDA", device.ErrMissing},
		"no driver": {func(_ *testing.T, p *patient) {
			missing(&p.driver.Library, "libcuda.so.1")
			p.driver.GPUs = nil
			p.gone("proc")
			p.gone("dev")
		}, checkDriver, Problem, "libcuda.so.1 not found", "nvidia-driver", device.ErrMissing},
		"no GPU at all": {func(_ *testing.T, p *patient) {
			missing(&p.driver.Library, "libcuda.so.1")
			p.driver.GPUs = nil
			p.gone("proc")
			p.gone("dev")
			p.file(t, "sys/bus/pci/devices/0000:41:00.0/class", "0x040300\n") // the sound of a graphics card
		}, checkDriver, Problem, "no NVIDIA GPU is among this machine's PCI devices", "--device host", device.ErrMissing},
		"module not loaded": {func(_ *testing.T, p *patient) {
			p.driver.GPUs, p.driver.Error, p.driver.Status = nil, "cuInit: CUDA_ERROR_NO_DEVICE (100)", 100
			p.gone("proc")
			p.gone("dev")
		}, checkDriver, Problem, "the kernel module is not loaded", "modprobe nvidia", device.ErrMissing},
		"stub library": {func(_ *testing.T, p *patient) { p.driver.GPUs, p.driver.Error, p.driver.Status = nil, "cuInit", 34 },
			checkDriver, Problem, "is a stub", "LD_LIBRARY_PATH", device.ErrMissing},
		"versions differ": {func(_ *testing.T, p *patient) { p.driver.GPUs, p.driver.Error, p.driver.Status = nil, "cuInit", 803 },
			checkDriver, Problem, "does not fit the kernel module 580.65.06", "reboot", device.ErrMissing},
		"no fabric": {func(_ *testing.T, p *patient) {
			p.driver.GPUs, p.driver.Error, p.driver.Status = nil, "cuInit: error 802", 802
		},
			checkDriver, Problem, "error 802", "nvidia-fabricmanager", device.ErrMissing},
		"no GPU visible": {func(_ *testing.T, p *patient) {
			p.driver.GPUs, p.driver.Error = nil, "the driver shows no GPU (CUDA_VISIBLE_DEVICES=\"7\")"
		},
			checkDriver, Problem, "shows no GPU", "CUDA_VISIBLE_DEVICES", device.ErrMissing},
		"another status": {func(_ *testing.T, p *patient) {
			p.driver.GPUs, p.driver.Error, p.driver.Status = nil, "cuInit: CUDA_ERROR_UNKNOWN (999)", 999
		},
			checkDriver, Problem, "UNKNOWN (999)", "dmesg", device.ErrMissing},
		"GPU does not open":         {func(_ *testing.T, p *patient) { p.driver.GPUs[0].Error = "device lost" }, checkGPU, Problem, "GPU 0 (NVIDIA H200): device lost", "nvidia-smi -i 0", device.ErrMissing},
		"another GPU is ill":        {func(_ *testing.T, p *patient) { p.driver.GPUs[1].Error = "device lost" }, checkGPU, Warning, "GPU 1", "nvidia-smi -i 0000:42:00.0 ", nil},
		"the chosen GPU is ill":     {func(_ *testing.T, p *patient) { p.driver.GPUs[1].Error = "device lost"; p.o.Device = "GPU-9876" }, checkGPU, Problem, "GPU 1", "nvidia-smi -i 0000:42:00.0 ", device.ErrMissing},
		"no such GPU":               {func(_ *testing.T, p *patient) { p.o.Device = "5" }, checkGPU, Problem, `no GPU is "5"`, "tune devices", device.ErrMissing},
		"an old GPU":                {func(_ *testing.T, p *patient) { p.driver.GPUs[1].ComputeCapability = "6.1"; p.nvrtc.Targets = nil }, checkGPU, Warning, "6.1", "--device", nil},
		"a GPU's name is too short": {func(_ *testing.T, p *patient) { p.o.Device = "GPU-" }, checkGPU, Problem, `no GPU is "GPU-"`, "tune devices", device.ErrMissing},
		"several are meant":         {func(_ *testing.T, p *patient) { p.driver.GPUs[1].UUID = "GPU-01234567"; p.o.Device = "GPU-01234567" }, checkGPU, Problem, "more than one device", "tune devices", device.ErrMissing},
		"a GPU of another order": {func(_ *testing.T, p *patient) {
			p.driver.GPUs[0].PCI, p.driver.GPUs[0].Error = "0000:C1:00.0", "device lost"
		},
			checkGPU, Problem, "GPU 0", "nvidia-smi -i 0000:C1:00.0 ", device.ErrMissing},
		"no device files":       {func(_ *testing.T, p *patient) { p.gone("dev") }, checkPermissions, Problem, "no /dev/nvidia*", "nvidia-modprobe", device.ErrMissing},
		"no rights":             {func(_ *testing.T, p *patient) { p.refuse = "dev/nvidia"; p.driver.GPUs[0].Error = "x" }, checkPermissions, Problem, "not readable and writable", "if that is root", device.ErrMissing},
		"no rights for another": {func(_ *testing.T, p *patient) { p.file(t, "dev/nvidia7", ""); p.refuse = "dev/nvidia7" }, checkPermissions, Note, "dev/nvidia7", "usermod -aG \"$(stat -c %G ", nil},
		"counters for root": {func(t *testing.T, p *patient) {
			p.file(t, "proc/driver/nvidia/params", "A: 0\nRmProfilingAdminOnly: 1\n")
		}, checkPermissions, Note, "performance counters", "NVreg_RestrictProfilingToAdminUsers=0", nil},
		"no NVRTC":      {func(_ *testing.T, p *patient) { missing(&p.nvrtc.Library, "libnvrtc.so.13"); p.nvrtc.Version = "" }, checkNVRTC, Problem, "libnvrtc.so.13 not found", "nvidia-cuda-nvrtc", device.ErrMissing},
		"NVRTC crashes": {func(_ *testing.T, p *patient) { p.fails["nvrtc"] = errors.New("signal: aborted") }, checkNVRTC, Problem, "aborted", "CUDA toolkit", device.ErrMissing},
		"NVRTC hangs":   {func(_ *testing.T, p *patient) { p.fails["nvrtc"] = silent }, checkNVRTC, Problem, "no answer", "cache", device.ErrMissing},
		"NVRTC named wrongly": {func(_ *testing.T, p *patient) {
			missing(&p.nvrtc.Library, "libnvrtc.so.13")
			p.nvrtc.Version, p.env["TUNE_LIBNVRTC"] = "", "/opt/libnvrtc.so.13"
		}, checkNVRTC, Problem, "libnvrtc.so.13 not found", "unset TUNE_LIBNVRTC", device.ErrMissing},
		"NVML named wrongly": {func(_ *testing.T, p *patient) {
			missing(&p.nvml.Library, "libnvidia-ml.so.1")
			p.nvml.GPUs, p.env["TUNE_LIBNVML"] = nil, "/opt/libnvidia-ml.so.1"
		}, checkNVML, Warning, "libnvidia-ml.so.1 not found", "unset TUNE_LIBNVML", nil},
		"NVRTC knows no GPU so old": {func(_ *testing.T, p *patient) { p.driver.GPUs[0].ComputeCapability = "7.0" }, checkNVRTC, Problem, "does not know the compute capability 7.0", "older CUDA toolkit", device.ErrMissing},
		"another is so old":         {func(_ *testing.T, p *patient) { p.driver.GPUs[1].ComputeCapability = "7.0" }, checkNVRTC, Warning, "does not know the compute capability 7.0", "older CUDA toolkit", nil},
		"NVRTC without builtins":    {func(_ *testing.T, p *patient) { p.nvrtc.Kernel = "failed to open libnvrtc-builtins.so.13.0" }, checkNVRTC, Problem, "does not compile a small kernel", "libnvrtc-builtins.so", device.ErrMissing},
		"NVRTC too new":             {func(_ *testing.T, p *patient) { p.driver.CUDAVersion = "12.8" }, checkNVRTC, Warning, "newer than the driver's CUDA 12.8", "TUNE_LIBNVRTC", nil},
		"NVRTC knows not the GPU":   {func(_ *testing.T, p *patient) { p.driver.GPUs[1].ComputeCapability = "12.0" }, checkNVRTC, Warning, "does not know the compute capability 12.0", "toolkit", nil},
		"no NVML":                   {func(_ *testing.T, p *patient) { missing(&p.nvml.Library, "libnvidia-ml.so.1"); p.nvml.GPUs = nil }, checkNVML, Warning, "libnvidia-ml.so.1 not found", "NVIDIA_DRIVER_CAPABILITIES", nil},
		"NVML without driver": {func(_ *testing.T, p *patient) {
			p.nvml.File, p.nvml.Error, p.nvml.GPUs = "", "nvmlInit_v2: the driver is not loaded (NVML error 9)", nil
		},
			checkNVML, Warning, "not loaded", "what mends the driver", nil},
		"NVML hangs":        {func(_ *testing.T, p *patient) { p.fails["nvml"] = silent }, checkNVML, Warning, "no answer", "reboot", nil},
		"NVML crashes":      {func(_ *testing.T, p *patient) { p.fails["nvml"] = errors.New("signal: aborted") }, checkNVML, Warning, "aborted", "install", nil},
		"hot":               {gpu(func(g *cuda.NVMLState) { g.Throttle = []string{"hardware thermal slowdown"} }), checkClocks, Warning, "lowered now: hardware thermal slowdown", "cooled", nil},
		"at its power cap":  {gpu(func(g *cuda.NVMLState) { g.Throttle = []string{"power cap"} }), checkClocks, Warning, "power cap", "-pl WATTS", nil},
		"power limited":     {gpu(func(g *cuda.NVMLState) { g.PowerLimitWatts = 400 }), checkPower, Warning, "limit 400 W, 700 W by default", "nvidia-smi -i 0 -pl 700", nil},
		"no energy counter": {gpu(func(g *cuda.NVMLState) { g.EnergyCounter = false }), checkPower, Note, "no energy counter", "", nil},
		"ECC errors":        {gpu(func(g *cuda.NVMLState) { g.Uncorrected = 3 }), checkECC, Warning, "3 errors", "-r", nil},
		"ECC to change":     {gpu(func(g *cuda.NVMLState) { g.ECC.Pending = false }), checkECC, Note, "changes at the next reset", "-r", nil},
		"MIG":               {gpu(func(g *cuda.NVMLState) { g.MIG.Now = true }), checkMIG, Warning, "on", "-mig 0", nil},
		"MIG to change":     {gpu(func(g *cuda.NVMLState) { g.MIG.Pending = true }), checkMIG, Note, "off, changes at the next reset", "-r", nil},
		"no persistence":    {gpu(func(g *cuda.NVMLState) { g.Persistent = false }), checkPersistence, Note, "off", "-pm 1", nil},
		"prohibited":        {gpu(func(g *cuda.NVMLState) { g.ComputeMode = 2 }), checkMode, Warning, "prohibited", "-c DEFAULT", nil},
		"exclusive":         {gpu(func(g *cuda.NVMLState) { g.ComputeMode = 3 }), checkMode, Note, "exclusive", "-c DEFAULT", nil},
		"busy":              {gpu(func(g *cuda.NVMLState) { g.Processes = []cuda.Process{{PID: 4711, Name: "train"}} }), checkProcesses, Warning, "4711 train", "--device", nil},
		"busy, by another number": {func(_ *testing.T, p *patient) {
			p.nvml.GPUs[0].UUID, p.nvml.GPUs[0].Processes = "GPU-9876543210", []cuda.Process{{PID: 4711}}
		}, checkProcesses, Warning, "GPU 1 (0 of nvidia-smi): 1 compute on it: 4711", "--device", nil},
		"busy, and not visible": {func(_ *testing.T, p *patient) {
			p.nvml.GPUs[0].UUID, p.nvml.GPUs[0].Processes = "GPU-5", []cuda.Process{{PID: 4711}}
		}, checkProcesses, Warning, "GPU 0 of nvidia-smi: 1 compute on it: 4711", "--device", nil},
		"little memory": {gpu(func(g *cuda.NVMLState) { g.FreeBytes = 1 << 35 }), checkMemory, Warning, "32.0 GiB free of 128.0 GiB", "nvidia-smi", nil},
		"cache off":     {func(_ *testing.T, p *patient) { p.env["CUDA_CACHE_DISABLE"] = "1" }, checkCache, Note, "CUDA_CACHE_DISABLE=1", "unset", nil},
		"no home":       {func(_ *testing.T, p *patient) { p.env["HOME"] = "" }, checkCache, Note, "HOME", "CUDA_CACHE_PATH", nil},
		"cache refused": {func(_ *testing.T, p *patient) { p.env["CUDA_CACHE_PATH"] = p.root + "/cc"; p.refuse = p.root }, checkCache, Warning, "cannot be written", "CUDA_CACHE_PATH", nil},
		"temporary folder missing": {func(_ *testing.T, p *patient) { p.env["TMPDIR"] = p.root + "/none"; p.o.Device = "host" },
			checkTemporary, Problem, "no such file", "TMPDIR", device.ErrMissing},
		"temporary folder noexec":      {func(_ *testing.T, p *patient) { p.fs.Flags = unix.ST_NOEXEC; p.o.Device = "host" }, checkTemporary, Problem, "noexec", "TMPDIR", device.ErrMissing},
		"temporary folder noexec, GPU": {func(_ *testing.T, p *patient) { p.fs.Flags = unix.ST_NOEXEC }, checkTemporary, Note, "noexec", "TMPDIR", nil},
		"no C++ compiler":              {func(_ *testing.T, p *patient) { p.cc = fmt.Errorf("%w: no C++ compiler found", device.ErrMissing) }, checkHost, Note, "no C++ compiler", "g++", nil},
		"no C++ compiler, host": {func(_ *testing.T, p *patient) {
			p.cc, p.o.Device = fmt.Errorf("%w: no C++ compiler found", device.ErrMissing), "host"
		}, checkHost, Problem, "no C++ compiler", "g++", device.ErrMissing},
		"C++ compiler hangs":    {func(_ *testing.T, p *patient) { p.cc, p.o.Device = silent, "host" }, checkHost, Problem, "no answer", "--limit", device.ErrMissing},
		"disk full":             {func(_ *testing.T, p *patient) { p.fs.Bavail = 100 }, checkStore, Warning, "0 MB left", "make room", nil},
		"disk quite full":       {func(_ *testing.T, p *patient) { p.fs.Bavail = 0 }, checkStore, Warning, "0 MB left", "make room", nil},
		"store refused":         {func(_ *testing.T, p *patient) { p.refuse = filepath.Dir(p.o.Store) }, checkStore, Problem, "cannot be written", "TUNE_STORE", cache.ErrUnwritable},
		"no store but a folder": {func(_ *testing.T, p *patient) { p.o.Store = p.root }, checkStore, Problem, "is a folder", "--store", cache.ErrCorrupt},
		"corrupt store": {func(t *testing.T, p *patient) {
			if err := os.WriteFile(p.o.Store, []byte(strings.Repeat("This is no store.", 5000)), 0o644); err != nil {
				t.Fatal(err)
			}
		}, checkStore, Problem, "damaged or no store", "mv ", cache.ErrCorrupt},
		"network": {func(_ *testing.T, p *patient) { p.fs.Type = 0x6969 }, checkStore, Note, "network file system", "tune store merge", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := healthy(t)
			c.ill(t, p)
			r := p.examine()
			told := false
			for _, f := range r.Findings {
				if f.State == OK {
					continue
				}
				if f.Means == "" || f.Mend == "" && c.mend != "" {
					t.Errorf("it says neither what it means nor what mends it: %+v", f)
				}
				if f.Check == c.check && f.State == c.state && strings.Contains(f.Found, c.found) && strings.Contains(f.Mend, c.mend) {
					told = true
				} else if f.State == Problem && c.code == nil {
					t.Errorf("also %+v", f)
				}
			}
			if !told {
				t.Errorf("it is not told: %+v", r.Findings)
			}
			if err := r.Err(); !errors.Is(err, c.code) || c.code == nil && err != nil {
				t.Errorf("ends with %v", err)
			}
		})
	}
}

// TestPlacesAreTold: where a library is not found, each place that was looked at is in the finding.
func TestPlacesAreTold(t *testing.T) {
	p := healthy(t)
	missing(&p.nvrtc.Library, "libnvrtc.so.13")
	for _, f := range p.examine().Findings {
		if f.Check == checkNVRTC && len(f.Places) != 2 {
			t.Errorf("%+v", f)
		}
	}
}

// TestAQuestionThatHangsIsGivenUp: what does not mind its context either.
func TestAQuestionThatHangsIsGivenUp(t *testing.T) {
	p := healthy(t)
	forever := make(chan struct{})
	defer close(forever)
	a := <-within(context.Background(), 10*time.Millisecond, func(context.Context) (int, error) { <-forever; return 1, nil })
	if !a.silent() || a.known() != nil {
		t.Errorf("%+v", a)
	}
	begin := time.Now()
	p.examine()
	p.o.Limit, p.o.Ask = 50*time.Millisecond, func(context.Context, string, any) error { <-forever; return nil }
	r := Examine(context.Background(), p.o)
	if took := time.Since(begin); took > 10*time.Second || !errors.Is(r.Err(), device.ErrMissing) {
		t.Errorf("%v, %v", took, r.Err())
	}
}

func TestTheHostAndRecordingsNeedNoGPU(t *testing.T) {
	p := healthy(t)
	missing(&p.driver.Library, "libcuda.so.1")
	missing(&p.nvrtc.Library, "libnvrtc.so.13")
	p.driver.GPUs, p.nvml.GPUs, p.nvrtc.Version = nil, nil, ""
	p.o.Device = "replay:h200"
	r := p.examine()
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	for _, f := range r.Findings {
		if f.Check == checkDriver && (f.State != Note || !strings.Contains(f.Means, "a tune on replay:h200 does without it")) {
			t.Errorf("%+v", f)
		}
	}
}

// TestTheCacheBehindALink is counted: homes are small, and the cache lies elsewhere.
func TestTheCacheBehindALink(t *testing.T) {
	p := healthy(t)
	p.file(t, "scratch/a/b", strings.Repeat("x", 2e6))
	link := filepath.Join(t.TempDir(), "ComputeCache")
	if err := os.Symlink(filepath.Join(p.root, "scratch"), link); err != nil {
		t.Fatal(err)
	}
	p.env["CUDA_CACHE_PATH"] = link
	for _, f := range p.examine().Findings {
		if f.Check == checkCache && (f.State != OK || f.Found != link+", 2.0 MB") {
			t.Errorf("%+v", f)
		}
	}
}
