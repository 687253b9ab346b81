package cuda

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/timing"
)

var nvrtcSymbols = []string{
	"nvrtcVersion", "nvrtcCreateProgram", "nvrtcDestroyProgram", "nvrtcCompileProgram", "nvrtcGetProgramLogSize",
	"nvrtcGetProgramLog", "nvrtcGetPTXSize", "nvrtcGetPTX", "nvrtcGetErrorString",
}

// nvrtcNewer came with CUDA 11.1 and 11.2.
var nvrtcNewer = []string{"nvrtcGetCUBINSize", "nvrtcGetCUBIN", "nvrtcGetNumSupportedArchs", "nvrtcGetSupportedArchs"}

var nvrtc = sync.OnceValues(func() (*library, error) {
	names := []string{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"}
	candidates := slices.Clone(names)
	for _, dir := range toolkitFolders() {
		for _, n := range names {
			candidates = append(candidates, filepath.Join(dir, n))
		}
	}
	return openLibrary("TUNE_LIBNVRTC", "NVRTC, CUDA's run-time compiler,",
		"install the CUDA toolkit or pip's nvidia-cuda-nvrtc, or set CUDA_HOME", candidates, nvrtcSymbols, nvrtcNewer)
})

// Compiler turns CUDA source into CUBINs with NVRTC. Zero device needed; safe
// for concurrent use, though NVRTC itself runs much of a compile under a lock.
type Compiler struct {
	lib     *library
	version string
	archs   []int // compute capabilities NVRTC builds for, as 90
	minimal bool  // NVRTC can leave out what the sources do not use: textures, calls of the runtime
	// NoCache makes NVRTC compile anew what it has compiled before: for measuring
	// compile times.
	NoCache bool
}

var _ device.Compiler = (*Compiler)(nil)

// OpenCompiler loads NVRTC. Without it the error is a device.ErrMissing.
func OpenCompiler() (*Compiler, error) {
	l, err := nvrtc()
	if err != nil {
		return nil, err
	}
	major, minor := new(int32), new(int32)
	if r := l.call("nvrtcVersion", uintptr(unsafe.Pointer(major)), uintptr(unsafe.Pointer(minor))); r != 0 {
		return nil, fmt.Errorf("nvrtcVersion: error %d", r)
	}
	c := &Compiler{lib: l, version: fmt.Sprintf("NVRTC %d.%d", *major, *minor)}
	c.minimal = *major > 12 || *major == 12 && *minor >= 4
	if l.has("nvrtcGetNumSupportedArchs") {
		n := new(int32)
		if r := l.call("nvrtcGetNumSupportedArchs", uintptr(unsafe.Pointer(n))); r == 0 && *n > 0 {
			archs := make([]int32, *n)
			if r := l.call("nvrtcGetSupportedArchs", uintptr(unsafe.Pointer(&archs[0]))); r == 0 {
				for _, a := range archs {
					c.archs = append(c.archs, int(a))
				}
			}
		}
	}
	return c, nil
}

// Version is the compiler's name and version, "NVRTC 13.0".
func (c *Compiler) Version() string { return c.version }

// Targets lists the compute capabilities that the compiler builds for, "9.0"; none
// where it cannot tell (CUDA 11.1 and older).
func (c *Compiler) Targets() []string {
	var all []string
	for _, a := range c.archs {
		all = append(all, fmt.Sprintf("%d.%d", a/10, a%10))
	}
	return all
}

// Close does nothing: the library stays loaded.
func (c *Compiler) Close() error { return nil }

// target chooses the architecture: the device's own as CUBIN if NVRTC knows it,
// else PTX of the newest below it, which the driver compiles when it loads it.
func (c *Compiler) target(cc string) (option string, ptx bool, err error) {
	arch, err := strconv.Atoi(strings.ReplaceAll(cc, ".", ""))
	if err != nil {
		return "", false, fmt.Errorf("compute capability %q is none", cc)
	}
	if (len(c.archs) == 0 || slices.Contains(c.archs, arch)) && c.lib.has("nvrtcGetCUBIN") {
		return fmt.Sprintf("--gpu-architecture=sm_%d", arch), false, nil
	}
	best := 0
	if len(c.archs) == 0 { // it cannot tell: let it try
		best = arch
	}
	for _, a := range c.archs {
		if a <= arch {
			best = max(best, a)
		}
	}
	if best == 0 {
		return "", false, fmt.Errorf("%w: %s cannot build for compute capability %s; it knows %v: install a CUDA version that does", device.ErrMissing, c.version, cc, c.archs)
	}
	return fmt.Sprintf("--gpu-architecture=compute_%d", best), true, nil
}

// Compile builds k for m. A refusal by the compiler is a CompileError with its
// first error line.
func (c *Compiler) Compile(_ context.Context, k kernels.Kernel, m machine.Machine) (device.Binary, error) {
	arch, ptx, err := c.target(m.ComputeCapability)
	if err != nil {
		return device.Binary{}, err
	}
	return c.compile(k, arch, ptx)
}

// Image builds k for m as PTX, or as CUBIN, to be kept in a file.
func (c *Compiler) Image(k kernels.Kernel, m machine.Machine, ptx bool) ([]byte, error) {
	arch, only, err := c.target(m.ComputeCapability)
	if err != nil {
		return nil, err
	}
	if only && !ptx {
		return nil, fmt.Errorf("%w: %s makes no CUBIN for compute capability %s: emit ptx, or install a CUDA version that does", device.ErrMissing, c.version, m.ComputeCapability)
	}
	if ptx {
		arch = strings.Replace(arch, "=sm_", "=compute_", 1)
	}
	b, err := c.compile(k, arch, ptx)
	return b.Image, err
}

// compile builds k for an architecture, given as NVRTC's option.
func (c *Compiler) compile(k kernels.Kernel, arch string, ptx bool) (device.Binary, error) {
	options := []string{arch, "--std=c++17", "--fmad=true"}
	begin := time.Now()
	image, log, err := c.build(k.Source, k.Entry+".cu", options, ptx)
	if err != nil && !errors.Is(err, errRefused) {
		return device.Binary{}, fmt.Errorf("%s: %w: %s", c.version, err, device.Clip(log))
	}
	if err != nil {
		return device.Binary{}, &device.Failure{Status: timing.CompileError, Reason: firstError(log, err), Log: device.Clip(log)}
	}
	id := sha256.Sum256(append([]byte(k.Source), strings.Join(append(options, c.version), " ")...))
	return device.Binary{
		ID: hex.EncodeToString(id[:]), Schedule: k.Schedule, Entry: k.Entry, Stages: k.Stages, Image: image, Awaits: k.Awaits() && dependent(arch),
		CompileSeconds: time.Since(begin).Seconds(), Compiler: c.version, Options: options,
	}, nil
}

// dependent tells whether what is compiled for an architecture, given as NVRTC's option, can wait for the launch before it (compute
// capability 9.0; CUDA programming guide, programmatic dependent launch).
func dependent(arch string) bool {
	n, err := strconv.Atoi(arch[strings.LastIndexByte(arch, '_')+1:])
	return err == nil && n >= 90
}

// errRefused is the compiler's no; any other failure of NVRTC is no schedule's fault.
var errRefused = errors.New("the source was refused")

// nvrtcErrorCompilation is NVRTC_ERROR_COMPILATION (nvrtc.h).
const nvrtcErrorCompilation = 6

// firstError is the line of a log that says what is wrong. What ptxas says at its end is
// none; the line before it may be one that names no error.
func firstError(log string, err error) string {
	said := ""
	for line := range strings.Lines(log) {
		line = strings.TrimSpace(line)
		switch {
		case said != "" && strings.Contains(line, "aborted due to errors"):
			return said
		case strings.Contains(line, "error"):
			return line
		case strings.HasPrefix(line, "ptxas"):
			said = line
		}
	}
	return cmp.Or(said, err.Error())
}

// build compiles one program and gives its image and log.
func (c *Compiler) build(source, name string, options []string, ptx bool) (image []byte, log string, err error) {
	// These change no code, so that no record names them.
	options = slices.Clone(options)
	if c.minimal {
		options = append(options, "--minimal")
	}
	if c.NoCache {
		options = append(options, "--no-cache")
	}
	l := c.lib
	fail := func(call string, r int) error {
		if r == nvrtcErrorCompilation {
			return errRefused
		}
		return fmt.Errorf("%s: NVRTC error %d", call, r)
	}
	src, file := append([]byte(source), 0), append([]byte(name), 0)
	prog := new(uintptr)
	if r := l.call("nvrtcCreateProgram", uintptr(unsafe.Pointer(prog)), uintptr(unsafe.Pointer(&src[0])), uintptr(unsafe.Pointer(&file[0])), 0, 0, 0); r != 0 {
		return nil, "", fail("nvrtcCreateProgram", r)
	}
	defer giveBack()
	defer l.call("nvrtcDestroyProgram", uintptr(unsafe.Pointer(prog)))

	// The option strings are cut from one pinned buffer, so that the array of
	// addresses stays true.
	args := newStrings(options)
	defer args.free()
	r := l.call("nvrtcCompileProgram", *prog, uintptr(len(options)), args.address())
	log = c.text("nvrtcGetProgramLogSize", "nvrtcGetProgramLog", *prog)
	if r != 0 {
		return nil, log, fail("nvrtcCompileProgram", r)
	}
	size, get := "nvrtcGetCUBINSize", "nvrtcGetCUBIN"
	if ptx {
		size, get = "nvrtcGetPTXSize", "nvrtcGetPTX"
	}
	n := new(uint64)
	if r := l.call(size, *prog, uintptr(unsafe.Pointer(n))); r != 0 || *n == 0 {
		return nil, log, fail(size, r)
	}
	image = make([]byte, *n)
	if r := l.call(get, *prog, uintptr(unsafe.Pointer(&image[0]))); r != 0 {
		return nil, log, fail(get, r)
	}
	return image, log, nil
}

// mallocTrim is the C library's function of that name; 0 where it has none.
var mallocTrim = sync.OnceValue(func() uintptr {
	f, err := purego.Dlsym(purego.RTLD_DEFAULT, "malloc_trim")
	if err != nil {
		return 0
	}
	return f
})

var trimming struct {
	sync.Mutex
	last time.Time
}

// giveBack lets the C library give back to the system what NVRTC has freed: some megabytes a program that it would keep. It
// does so once a second at most, for it takes some milliseconds.
func giveBack() {
	if !trimming.TryLock() {
		return
	}
	defer trimming.Unlock()
	if f := mallocTrim(); f != 0 && time.Since(trimming.last) > time.Second {
		purego.SyscallN(f, 0)
		trimming.last = time.Now()
	}
}

// text fetches a log; none is no fault.
func (c *Compiler) text(size, get string, prog uintptr) string {
	n := new(uint64)
	if r := c.lib.call(size, prog, uintptr(unsafe.Pointer(n))); r != 0 || *n < 2 {
		return ""
	}
	b := make([]byte, *n)
	if r := c.lib.call(get, prog, uintptr(unsafe.Pointer(&b[0]))); r != 0 {
		return ""
	}
	return cString(b)
}
