package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stenciltune/device"
	"stenciltune/device/cuda"
	"stenciltune/machine"
)

// Statuses of the driver (CUresult) that say what is wrong with an installation.
const (
	statusStub     = 34
	statusNoDevice = 100
	statusNotReady = 802 // CUDA_ERROR_SYSTEM_NOT_READY
	statusMismatch = 803
)

// driver judges the driver's library.
func (s system) driver(d answer[cuda.DriverProbe]) []Finding {
	f := Finding{Check: checkDriver, State: Problem, Means: "no GPU can be used", Places: d.value.Places}
	p, kernel := d.value, s.kernelModule()
	switch {
	case d.silent():
		f.Found, f.Means = "the driver gave "+d.err.Error(), "the GPU or its driver hangs, and so would a tune"
		f.Mend = "nvidia-smi; sudo dmesg | grep -i -e NVRM -e Xid; if these show a fault, reboot"
	case d.err != nil:
		f.Found, f.Mend = d.err.Error(), "install the driver anew, of one version: nvidia-smi and libcuda.so.1 must be of the same package"
	case p.File == "" && s.getenv("TUNE_LIBCUDA") != "":
		f.Found, f.Mend = plain(p.Error), unset("TUNE_LIBCUDA")
	case p.File == "" && slices.ContainsFunc(p.Places, func(p cuda.Place) bool { return strings.HasPrefix(p.Result, "has no ") }):
		f.Found, f.Mend = plain(p.Error), "update the driver, to one of CUDA 11 or newer; then reboot"
	case p.File == "" && kernel != "":
		f.Found = fmt.Sprintf("the kernel module %s is loaded, but its library is not here: %s", kernel, p.Error)
		f.Mend = "in a container: start it with --gpus all (NVIDIA container toolkit); else install the driver's libraries, on Debian: sudo apt-get install libcuda1"
	case kernel == "" && len(p.GPUs) == 0 && !s.pciGPU():
		f.Found = "no driver is loaded, and no NVIDIA GPU is among this machine's PCI devices: " + plain(p.Error)
		f.Mend = "tune on the processor with --device host, or on a recording with --device replay:h200"
	case p.File == "":
		f.Found, f.Mend = plain(p.Error), "sudo apt-get install nvidia-driver, or the driver of your distribution; then reboot"
	case kernel == "" && len(p.GPUs) == 0:
		f.Found, f.Mend = p.File+" is here, but the kernel module is not loaded: "+p.Error, "sudo modprobe nvidia; if it says no, sudo dmesg | grep -i nvidia tells why (Secure Boot refuses unsigned modules)"
	case p.Status == statusStub:
		f.Found, f.Mend = p.File+" is a stub, for linking alone: "+p.Error, "take the folder of stubs out of LD_LIBRARY_PATH"
	case p.Status == statusNotReady:
		f.Found, f.Mend = plain(p.Error), "sudo systemctl start nvidia-fabricmanager, of the driver's version: GPUs that NVSwitches join wait for it"
	case p.Status == statusMismatch:
		f.Found, f.Mend = fmt.Sprintf("%s does not fit the kernel module %s: %s", p.File, kernel, p.Error), "sudo reboot (the driver was updated while it was loaded)"
	case p.Status == statusNoDevice, p.Error != "" && p.Status == 0:
		f.Found = plain(p.Error)
		f.Mend = "nvidia-smi -L lists the GPUs; unset CUDA_VISIBLE_DEVICES, or set it to one of them"
	case p.Error != "":
		f.Found, f.Mend = plain(p.Error), "nvidia-smi; sudo dmesg | grep -i NVRM"
	default:
		f.State, f.Means = OK, ""
		f.Found = fmt.Sprintf("%s, CUDA %s", p.File, p.CUDAVersion)
		if kernel != "" {
			f.Found += ", kernel module " + kernel
		}
	}
	return []Finding{f}
}

// gpus judges the GPUs that the driver shows. One that the tune does not use is no problem.
func gpus(p cuda.DriverProbe, selector string) []Finding {
	var list []Finding
	at, err := chosen(p, selector)
	for i, g := range p.GPUs {
		f := Finding{Check: checkGPU, State: OK, Found: describe(g.Machine)}
		if g.Error != "" {
			f.State, f.Found = Warning, fmt.Sprintf("GPU %d (%s): %s", i, g.Name, g.Error)
			f.Means = "no kernel runs on it"
			f.Mend = fmt.Sprintf("nvidia-smi -i %s -q -d COMPUTE,PIDS,ECC tells who holds it and whether it is sound", cmp.Or(g.PCI, strconv.Itoa(i))) // which counts otherwise than CUDA
			if i == at {
				f.State = Problem
			}
		} else if major, _, _ := strings.Cut(g.ComputeCapability, "."); len(major) == 1 && major < "7" {
			f.State, f.Means = Warning, "kernels are written for compute capability 7.0 and newer"
			f.Mend = "choose another GPU with --device"
		}
		list = append(list, f)
	}
	if len(p.GPUs) > 0 && err != nil {
		list = append(list, Finding{Check: checkGPU, State: Problem, Found: fmt.Sprintf("no GPU is %q: %s", selector, plain(err.Error())), Means: "there is nothing to tune on", Mend: "tune devices lists them"})
	}
	return list
}

// works tells whether the driver opens the GPU that a tune is to run on.
func works(p cuda.DriverProbe, selector string) bool {
	at, err := chosen(p, selector)
	return err == nil && at >= 0 && p.GPUs[at].Error == ""
}

// chosen is the place of the GPU that a tune is to run on; -1 if it is to run on none.
func chosen(p cuda.DriverProbe, selector string) (int, error) {
	if !slices.Contains(needs(selector), checkGPU) {
		return -1, nil
	}
	all := make([]machine.Machine, len(p.GPUs))
	for i, g := range p.GPUs {
		all[i] = g.Machine
	}
	at, err := cuda.Match(all, cmp.Or(selector, "0"))
	if err != nil {
		at = -1
	}
	return at, err
}

func describe(m machine.Machine) string {
	t := fmt.Sprintf("GPU %d: %s, compute capability %s, %s free of %s", m.Index, m.Name, m.ComputeCapability, gib(uint64(m.FreeBytes)), gib(uint64(m.MemoryBytes)))
	if m.PCI != "" {
		t += ", PCI " + m.PCI
	}
	return t
}

// nvrtc judges the run-time compiler, and whether it fits the driver and the GPUs.
func (s system) nvrtc(c answer[cuda.CompilerProbe], d cuda.DriverProbe, selector string) []Finding {
	p := c.value
	f := Finding{Check: checkNVRTC, State: Problem, Means: "no kernel can be compiled for a GPU", Places: p.Places}
	install := "install the CUDA toolkit, or pip install nvidia-cuda-nvrtc, or set CUDA_HOME to where a toolkit lies"
	if s.getenv("TUNE_LIBNVRTC") != "" {
		install = unset("TUNE_LIBNVRTC")
	}
	switch {
	case c.silent():
		f.Found, f.Mend = "NVRTC gave "+c.err.Error(), "clear the compiler's cache (below), or see whether the disk that holds it answers"
	case c.err != nil:
		f.Found, f.Mend = plain(c.err.Error()), install
	case p.File == "" || p.Version == "":
		f.Found, f.Mend = plain(p.Error), install
	case p.Kernel != "":
		f.Found = fmt.Sprintf("%s does not compile a small kernel: %s", p.File, p.Kernel)
		f.Mend = "its other half, libnvrtc-builtins.so of the same version, must lie in the same folder: " + install
	default:
		f.State, f.Means = OK, ""
		f.Found = fmt.Sprintf("%s, %s, compiles for %s", p.File, p.Version, strings.Join(p.Targets, " "))
	}
	list := []Finding{f}
	if f.State != OK {
		return list
	}
	if older(d.CUDAVersion, strings.TrimPrefix(p.Version, "NVRTC ")) {
		list = append(list, Finding{Check: checkNVRTC, State: Warning, Found: fmt.Sprintf("%s is newer than the driver's CUDA %s", p.Version, d.CUDAVersion),
			Means: "the driver may refuse what it compiles", Mend: "update the driver, or name an older NVRTC with TUNE_LIBNVRTC"})
	}
	at, _ := chosen(d, selector) // what it does not find is told as a GPU's
	for i, g := range d.GPUs {
		if len(p.Targets) == 0 || g.ComputeCapability == "" || slices.Contains(p.Targets, g.ComputeCapability) {
			continue
		}
		f := Finding{Check: checkNVRTC, State: Warning, Found: fmt.Sprintf("%s does not know the compute capability %s of %s", p.Version, g.ComputeCapability, g.Name),
			Means: "the driver compiles for it, which takes longer", Mend: "install a CUDA toolkit that knows it"}
		if capability(g.ComputeCapability) < capability(p.Targets[0]) {
			f.Means, f.Mend = "no kernel can be compiled for it", "install an older CUDA toolkit, which knows it, and name its NVRTC with TUNE_LIBNVRTC"
			if i == at {
				f.State = Problem
			}
		}
		list = append(list, f)
	}
	return list
}

// capability is a compute capability as a number: 90 of "9.0".
func capability(text string) int {
	n, err := strconv.Atoi(strings.ReplaceAll(text, ".", ""))
	if err != nil {
		return 0
	}
	return n
}

// unset is what mends a variable that names a library.
func unset(variable string) string {
	return "unset " + variable + ", or set it to the absolute path of the library"
}

// older tells whether the major version a is less than that of b.
func older(a, b string) bool {
	major := func(v string) int {
		text, _, _ := strings.Cut(v, ".")
		n, err := strconv.Atoi(text)
		if err != nil {
			return 0
		}
		return n
	}
	return major(a) > 0 && major(b) > major(a)
}

// management judges NVML.
func (s system) management(n answer[cuda.NVMLProbe]) []Finding {
	p := n.value
	f := Finding{Check: checkNVML, State: Warning, Places: p.Places, Means: "clocks, power, temperature and other processes are not seen, so that disturbed times are not recognised"}
	switch {
	case n.silent():
		f.Found, f.Mend = "NVML gave "+n.err.Error(), "nvidia-smi; if it hangs too, reboot"
	case n.err != nil:
		f.Found, f.Mend = n.err.Error(), "install the driver anew"
	case p.File == "" && opened(p.Places):
		f.Found, f.Mend = plain(p.Error), "what mends the driver (above); then nvidia-smi must list the GPU"
	case p.File == "" && s.getenv("TUNE_LIBNVML") != "":
		f.Found, f.Mend = plain(p.Error), unset("TUNE_LIBNVML")
	case p.Error != "":
		f.Found, f.Mend = plain(p.Error), "in a container: start it with -e NVIDIA_DRIVER_CAPABILITIES=compute,utility; else install the driver's libraries, on Debian: sudo apt-get install libnvidia-ml1"
	default:
		f.State, f.Means = OK, ""
		f.Found = fmt.Sprintf("%s, driver %s", p.File, p.Driver)
	}
	return []Finding{f}
}

// called is what a GPU is called that NVML tells of: its number is the driver's, as in --device, which
// CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER change.
func called(g cuda.NVMLState, d cuda.DriverProbe) string {
	i := slices.IndexFunc(d.GPUs, func(p cuda.GPUProbe) bool { return p.UUID == g.UUID })
	switch {
	case i == g.Index || g.UUID == "" || len(d.GPUs) == 0:
		return fmt.Sprintf("GPU %d", g.Index)
	case i < 0:
		return fmt.Sprintf("GPU %d of nvidia-smi", g.Index)
	}
	return fmt.Sprintf("GPU %d (%d of nvidia-smi)", i, g.Index)
}

// state judges a GPU, called so, by what NVML tells of it.
func state(g cuda.NVMLState, at string) []Finding {
	smi := fmt.Sprintf("sudo nvidia-smi -i %d ", g.Index)
	list := []Finding{clocks(g, at, smi), power(g, at, smi), ecc(g, at, smi), mig(g, at, smi)}
	f := Finding{Check: checkPersistence, State: OK, Found: at + ": on"}
	if !g.Persistent {
		f.State, f.Found, f.Means, f.Mend = Note, at+": off", "the driver wakes the GPU for every program, which takes a second or more", smi+"-pm 1"
	}
	list = append(list, f)
	switch g.ComputeMode {
	case 2:
		list = append(list, Finding{Check: checkMode, State: Warning, Found: at + ": prohibited", Means: "no program may compute on it", Mend: smi + "-c DEFAULT"})
	case 1, 3:
		list = append(list, Finding{Check: checkMode, State: Note, Found: at + ": exclusive", Means: "a tune works while no other process holds the GPU", Mend: smi + "-c DEFAULT"})
	}
	if n := len(g.Processes); n > 0 {
		var names []string
		for _, p := range g.Processes {
			names = append(names, strings.TrimSpace(fmt.Sprintf("%d %s", p.PID, p.Name)))
		}
		list = append(list, Finding{Check: checkProcesses, State: Warning, Found: fmt.Sprintf("%s: %d compute on it: %s", at, n, strings.Join(names, ", ")),
			Means: "they disturb the times and take memory", Mend: "end them, or choose another GPU with --device: nvidia-smi lists them"})
	} else {
		list = append(list, Finding{Check: checkProcesses, State: OK, Found: at + ": none"})
	}
	if g.MemoryBytes > 0 {
		f := Finding{Check: checkMemory, State: OK, Found: fmt.Sprintf("%s: %s free of %s; a tune keeps four grids of each field", at, gib(g.FreeBytes), gib(g.MemoryBytes))}
		if g.FreeBytes < g.MemoryBytes/2 {
			f.State, f.Means, f.Mend = Warning, "large grids do not fit", "end what holds the memory: nvidia-smi lists it"
		}
		list = append(list, f)
	}
	return list
}

func clocks(g cuda.NVMLState, at, smi string) Finding {
	f := Finding{Check: checkClocks, State: OK, Found: fmt.Sprintf("%s: SM %.0f MHz of at most %.0f, memory %.0f MHz, %.0f degrees", at, g.SMClockHz/1e6, g.MaxSMClockHz/1e6, g.MemClockHz/1e6, g.Temperature)}
	if len(g.Throttle) == 0 {
		return f
	}
	f.State = Warning
	f.Found += ", lowered now: " + strings.Join(g.Throttle, ", ")
	f.Means = "times taken now say little about a cool and idle GPU"
	f.Mend = "see that it is cooled and powered, and let it rest: nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER"
	if slices.Equal(g.Throttle, []string{"power cap"}) {
		f.Means, f.Mend = "it works at its power limit: schedules that take less power run at higher clocks", "nothing, if it computes now; else "+smi+"-pl WATTS"
	}
	return f
}

func power(g cuda.NVMLState, at, smi string) Finding {
	f := Finding{Check: checkPower, State: OK, Found: fmt.Sprintf("%s: %.0f W, limit %.0f W, %.0f W by default", at, g.PowerWatts, g.PowerLimitWatts, g.DefaultLimitWatts)}
	switch {
	case g.PowerLimitWatts > 0 && g.DefaultLimitWatts > 0 && g.PowerLimitWatts < g.DefaultLimitWatts-1:
		f.State, f.Means = Warning, "the GPU is slower than others of its kind, and its best schedules are others"
		f.Mend = fmt.Sprintf("%s-pl %.0f, unless the limit is meant", smi, g.DefaultLimitWatts)
	case !g.EnergyCounter:
		f.State, f.Found = Note, f.Found+", no energy counter"
		f.Means = "configs have no energy, and --objective energy and edp are refused"
	}
	return f
}

func ecc(g cuda.NVMLState, at, smi string) Finding {
	f := Finding{Check: checkECC, State: OK, Found: at + ": " + onOff(g.ECC)}
	switch {
	case g.Uncorrected > 0:
		f.State, f.Found = Warning, fmt.Sprintf("%s, %d errors that were not corrected since the driver was loaded", f.Found, g.Uncorrected)
		f.Means = "memory is failing: answers may be wrong"
		f.Mend = smi + "-r resets it where nothing runs; if errors come back, replace it"
	case g.ECC.Now != g.ECC.Pending:
		f.State, f.Found = Note, f.Found+", changes at the next reset"
		f.Means, f.Mend = "bandwidth and memory change with it", smi+"-r, where nothing runs"
	}
	return f
}

func mig(g cuda.NVMLState, at, smi string) Finding {
	f := Finding{Check: checkMIG, State: OK, Found: at + ": " + onOff(g.MIG)}
	switch {
	case g.MIG.Now:
		f.State, f.Means = Warning, "a program sees one instance, and others may disturb its times"
		f.Mend = smi + "-mig 0, for the whole GPU"
	case g.MIG.Pending:
		f.State, f.Found, f.Means, f.Mend = Note, f.Found+", changes at the next reset", "after it a program sees one instance", smi+"-mig 0, for the whole GPU; "+smi+"-r, where nothing runs, for instances"
	}
	return f
}

func onOff(m cuda.Mode) string {
	switch {
	case !m.Known:
		return "not told"
	case m.Now:
		return "on"
	}
	return "off"
}

// plain is an error's text without the words that every missing device has.
func plain(text string) string { return strings.TrimPrefix(text, device.ErrMissing.Error()+": ") }

// opened tells whether a library was found at one of the places.
func opened(places []cuda.Place) bool {
	return slices.ContainsFunc(places, func(p cuda.Place) bool { return p.Result == cuda.Opened })
}

// gib prints bytes for people.
func gib(bytes uint64) string { return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30)) }
