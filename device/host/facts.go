package host

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"stenciltune/device"
	"stenciltune/machine"
)

// versionTimeout is how long a compiler may take to say its version.
const versionTimeout = 5 * time.Second

// findCompiler finds the C++ compiler that is asked for, or one, and its version.
func (d *Device) findCompiler() error {
	candidates := []string{"c++", "g++", "clang++"}
	if asked := cmp.Or(d.options.Compiler, os.Getenv("CXX")); asked != "" {
		candidates = []string{asked}
	}
	for _, c := range candidates {
		p, err := exec.LookPath(c)
		if err != nil {
			continue
		}
		if d.compiler, err = filepath.Abs(p); err != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), versionTimeout)
		cmd, _ := d.command(ctx, 0, d.compiler, "--version")
		out, err := output(cmd)
		cancel()
		if err != nil {
			continue
		}
		line, _, _ := strings.Cut(out, "\n")
		d.version = compilerName(line)
		_, err = exec.LookPath("ld.gold") // links in half the time of the usual one: a tenth of a second for each kernel
		d.gold.Store(err == nil)
		return nil
	}
	return fmt.Errorf("%w: no C++ compiler found that says its --version within %v (looked for %s); install g++ or clang++, or name one with CXX", device.ErrMissing, versionTimeout, strings.Join(candidates, ", "))
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
