package host

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"stenciltune/device"
	"stenciltune/machine"
)

// findCompiler gives the path and version of the C++ compiler.
func findCompiler(asked string) (path, version string, err error) {
	candidates := []string{"c++", "g++", "clang++"}
	if asked == "" {
		asked = os.Getenv("CXX")
	}
	if asked != "" {
		candidates = []string{asked}
	}
	for _, c := range candidates {
		p, err := exec.LookPath(c)
		if err != nil {
			continue
		}
		if p, err = filepath.Abs(p); err != nil {
			continue
		}
		out, err := exec.Command(p, "--version").Output()
		if err != nil {
			continue
		}
		line, _, _ := strings.Cut(string(out), "\n")
		return p, compilerName(line), nil
	}
	return "", "", fmt.Errorf("%w: no C++ compiler found (looked for %s); install g++ or clang++, or name one with CXX", device.ErrMissing, strings.Join(candidates, ", "))
}

// compilerName shortens "c++ (Debian 12.2.0-14) 12.2.0" to "g++ 12.2.0".
func compilerName(line string) string {
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return "c++"
	}
	name := "g++"
	if strings.Contains(line, "clang") {
		name = "clang++"
		for i, f := range fields {
			if f == "version" && i+1 < len(fields) {
				return name + " " + fields[i+1]
			}
		}
	}
	return name + " " + fields[len(fields)-1]
}

// facts describes the processor under the limits of a GPU of compute capability
// 9.0 (CUDA C++ programming guide, compute capabilities).
func facts(compiler string) machine.Machine {
	m := machine.Machine{
		Kind: machine.Host, Name: processor(), Compiler: compiler, SMs: runtime.NumCPU(), WarpSize: 32,
		MaxThreadsBlock: 1024, MaxBlockDim: [3]int{1024, 1024, 64}, MaxGridDim: [3]int{1<<31 - 1, 65535, 65535},
		MaxThreadsSM: 2048, MaxBlocksSM: 32, RegistersBlock: 65536, RegistersSM: 65536,
		SharedBlock: 48 << 10, SharedBlockOptin: 227 << 10, SharedSM: 228 << 10, SharedReserved: 1 << 10,
		L2Bytes: lastLevelCache(),
	}
	m.MemoryBytes, m.FreeBytes = memory()
	return m
}

// field finds "name : value" in a /proc file.
func field(file, name string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func processor() string {
	if name := field("/proc/cpuinfo", "model name"); name != "" {
		return name
	}
	return runtime.GOARCH + " processor"
}

// memory is the bytes the machine has and those free for use.
func memory() (total, free int64) {
	read := func(name string) int64 {
		n, err := strconv.ParseInt(strings.TrimSuffix(field("/proc/meminfo", name), " kB"), 10, 64)
		if err != nil {
			return 0
		}
		return n << 10
	}
	return read("MemTotal"), read("MemAvailable")
}

// lastLevelCache is the bytes of the processor's largest cache, 0 if not known.
func lastLevelCache() int64 {
	files, err := filepath.Glob("/sys/devices/system/cpu/cpu0/cache/index*/size")
	if err != nil {
		return 0
	}
	var largest int64
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(string(text)), "K"), 10, 64)
		if err == nil {
			largest = max(largest, n<<10)
		}
	}
	return largest
}
