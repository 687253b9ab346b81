package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"stenciltune/cache"
	"stenciltune/device/host"
	"stenciltune/tuner"
)

// system is what is asked of the operating system; tests have others.
type system struct {
	root   string // of /dev, /proc and /sys
	access func(path string, mode uint32) error
	statfs func(path string) (unix.Statfs_t, error)
	getenv func(string) string
	host   func() (compiler string, err error)
}

func thisSystem() system {
	return system{root: "/", access: unix.Access, getenv: os.Getenv, host: hostCompiler, statfs: func(path string) (s unix.Statfs_t, err error) {
		return s, unix.Statfs(path, &s)
	}}
}

// kernelModule is the version of the driver's kernel module, "" if it is not loaded.
func (s system) kernelModule() string {
	text, err := os.ReadFile(filepath.Join(s.root, "proc/driver/nvidia/version"))
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	_, after, _ := strings.Cut(line, "Module")
	for word := range strings.FieldsSeq(after) { // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Release Build"
		if word[0] >= '0' && word[0] <= '9' {
			return word
		}
	}
	return "of an unknown version"
}

// pciGPU tells whether an NVIDIA GPU is among the PCI devices.
func (s system) pciGPU() bool {
	files, err := filepath.Glob(filepath.Join(s.root, "sys/bus/pci/devices/*/vendor"))
	if err != nil {
		return false
	}
	for _, f := range files {
		vendor, err1 := os.ReadFile(f)
		class, err2 := os.ReadFile(filepath.Join(filepath.Dir(f), "class"))
		if err1 == nil && err2 == nil && strings.TrimSpace(string(vendor)) == "0x10de" && strings.HasPrefix(string(class), "0x03") {
			return true
		}
	}
	return false
}

// permissions judges the device files and who may read performance counters. Where the GPU works, a file
// that is refused is another GPU's.
func (s system) permissions(works bool) []Finding {
	nodes, err := filepath.Glob(filepath.Join(s.root, "dev/nvidia*"))
	if err != nil || len(nodes) == 0 {
		if s.kernelModule() == "" {
			return nil // there is no driver, which is said already
		}
		return []Finding{{Check: checkPermissions, State: Problem, Found: "the driver is loaded, but there is no /dev/nvidia*", Means: "no program can reach a GPU",
			Mend: "sudo nvidia-modprobe -c 0 -u; in a container: start it with --gpus all"}}
	}
	var refused []string
	files := 0
	for _, n := range nodes {
		if info, err := os.Stat(n); err == nil && info.IsDir() {
			continue // nvidia-caps
		}
		files++
		if s.access(n, unix.R_OK|unix.W_OK) != nil {
			refused = append(refused, n)
		}
	}
	f := Finding{Check: checkPermissions, State: OK, Found: fmt.Sprintf("%d device files, readable and writable", files)}
	if len(refused) > 0 {
		f = Finding{Check: checkPermissions, State: Problem, Found: "not readable and writable: " + strings.Join(refused, ", "), Means: "the driver shows no GPU to this user",
			Mend: fmt.Sprintf("sudo usermod -aG \"$(stat -c %%G %s)\" \"$USER\", and log in anew; if that is root: load the driver with NVreg_DeviceFileMode=0666", refused[0])}
		if works {
			f.State, f.Means = Note, "a GPU that the tune does not use is out of reach"
		}
	}
	list := []Finding{f}
	if text, err := os.ReadFile(filepath.Join(s.root, "proc/driver/nvidia/params")); err == nil && strings.Contains(string(text), "RmProfilingAdminOnly: 1") {
		list = append(list, Finding{Check: checkPermissions, State: Note, Found: "performance counters are for administrators", Means: "a tune does without them; profilers, such as ncu, do not",
			Mend: "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee /etc/modprobe.d/nvidia-profiler.conf, and reboot"})
	}
	return list
}

// folderFacts is a folder and the file system that it lies in.
type folderFacts struct {
	path   string
	bytes  int64  // in it
	free   uint64 // for this user
	noexec bool
	note   string
}

// cudaCache looks at the folder where the driver and NVRTC keep what they have compiled.
func (s system) cudaCache(ctx context.Context) (folderFacts, error) {
	f := folderFacts{path: s.getenv("CUDA_CACHE_PATH")}
	if f.path == "" {
		home := s.getenv("HOME")
		if home == "" {
			f.note = "neither CUDA_CACHE_PATH nor HOME is set"
			return f, nil
		}
		f.path = filepath.Join(home, ".nv/ComputeCache")
	}
	if s.getenv("CUDA_CACHE_DISABLE") == "1" {
		f.note = "CUDA_CACHE_DISABLE=1"
		return f, nil
	}
	// The slash follows a link.
	err := filepath.WalkDir(f.path+"/", func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			f.bytes += info.Size()
		}
		return ctx.Err()
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	at := existing(f.path)
	if err == nil && s.access(at, unix.W_OK) != nil {
		err = fmt.Errorf("%s cannot be written", at)
	}
	return f, err
}

// existing is a path or the nearest folder above it that is there.
func existing(path string) string {
	for path != "/" && path != "." {
		if _, err := os.Stat(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
			break
		}
		path = filepath.Dir(path)
	}
	return path
}

func cacheFindings(a answer[folderFacts]) []Finding {
	f := Finding{Check: checkCache, State: OK}
	again := "what was compiled is compiled again in every tune"
	switch {
	case a.err != nil:
		f.State, f.Found, f.Means = Warning, a.err.Error(), again
		f.Mend = "give yourself access to it, or name another folder with CUDA_CACHE_PATH"
	case a.value.note != "":
		f.State, f.Found, f.Means, f.Mend = Note, "none: "+a.value.note, again, "unset CUDA_CACHE_DISABLE, or name a folder with CUDA_CACHE_PATH"
	default:
		f.Found = fmt.Sprintf("%s, %.1f MB", a.value.path, float64(a.value.bytes)/1e6)
	}
	return []Finding{f}
}

// hostCompiler opens the host device and compiles the part that all its programs share.
func hostCompiler() (string, error) {
	d, err := host.Open(host.Options{})
	if err != nil {
		return "", err
	}
	defer d.Close()
	return d.Machine().Compiler, d.Ready()
}

func compilerFinding(a answer[string]) Finding {
	f := Finding{Check: checkHost, State: Problem, Means: "--device host cannot be used", Mend: "sudo apt-get install g++, or name a compiler with CXX"}
	switch {
	case a.silent():
		f.Found, f.Mend = "the compiler gave "+a.err.Error(), "see whether the machine is busy, and ask again with --limit 1m"
	case a.err != nil:
		f.Found = plain(a.err.Error())
	default:
		f = Finding{Check: checkHost, State: OK, Found: a.value + ", compiles the host device"}
	}
	return f
}

// leastRoom is the bytes of a disk below which a tune may not get through.
const leastRoom = 256 << 20

// temporary looks at the folder for compiled programs, and makes and removes a file in it.
func (s system) temporary() (folderFacts, error) {
	f := folderFacts{path: cmp.Or(s.getenv("TMPDIR"), "/tmp")}
	file, err := os.CreateTemp(f.path, "tune-doctor-*")
	if err != nil {
		return f, err
	}
	defer os.Remove(file.Name())
	if err := file.Close(); err != nil {
		return f, err
	}
	st, err := s.statfs(f.path)
	if err != nil {
		return f, err
	}
	f.free, f.noexec = st.Bavail*uint64(st.Bsize), st.Flags&unix.ST_NOEXEC != 0
	return f, nil
}

func temporaryFinding(a answer[folderFacts]) Finding {
	f := Finding{Check: checkTemporary, State: Problem, Mend: "name another folder with TMPDIR", Means: "the host device compiles and runs its programs there"}
	v := a.value
	switch {
	case a.err != nil:
		f.Found = a.err.Error()
	case v.noexec:
		f.Found = v.path + " is mounted noexec: nothing in it can be run"
	case v.free < leastRoom:
		f.Found, f.Mend = fmt.Sprintf("%s has %.0f MB left", v.path, float64(v.free)/1e6), "make room, or name another folder with TMPDIR"
	default:
		f.State, f.Means, f.Mend = OK, "", ""
		f.Found = fmt.Sprintf("%s, %s free", v.path, gib(v.free))
	}
	return f
}

// storeFacts is a store, and the disk that it lies or would lie on.
type storeFacts struct {
	path    string
	report  *cache.Report // nil where it could not be read
	sized   bool          // free is known
	free    uint64
	network bool
	refused string // a file or folder that cannot be written
}

// Magic numbers of file systems whose locks depend on a server (statfs(2)).
var networkFileSystems = map[int64]bool{0x6969: true, 0x517b: true, 0xfe534d42: true, 0xff534d42: true}

// examineStore reads a whole store, and looks at where it lies. It creates nothing.
func examineStore(path string, s system) (f storeFacts, err error) {
	if f.path = path; path == "" {
		if f.path, err = cache.DefaultPath(); err != nil {
			return f, tuner.Input(err)
		}
	}
	store, err := cache.Open(f.path)
	if err != nil {
		return f, err
	}
	f.path = store.Path()
	report, err := store.Check()
	if err != nil {
		return f, err
	}
	f.report = &report
	if cache.IsURL(f.path) {
		return f, nil // its disk is the server's
	}
	at := existing(f.path)
	if st, err := s.statfs(at); err == nil {
		f.sized, f.free, f.network = true, st.Bavail*uint64(st.Bsize), networkFileSystems[int64(st.Type)]
	}
	for _, p := range []string{at, existing(filepath.Dir(f.path))} {
		if s.access(p, unix.W_OK) != nil {
			f.refused = p
		}
	}
	return f, nil
}

func storeFindings(a answer[storeFacts]) []Finding {
	v := a.value
	f := Finding{Check: checkStore, State: Problem, Means: "nothing can be remembered, so no tune begins"}
	if a.err != nil {
		f.Found, f.err = a.err.Error(), a.err
		if e, ok := errors.AsType[*cache.Error](a.err); ok {
			f.Found, f.Mend = fmt.Sprintf("%s: %s", e.Path, e.Detail), e.Remedy
		} else if a.silent() {
			f.Found, f.err = fmt.Sprintf("not read: %v", a.err), fmt.Errorf("%w: %w", cache.ErrUnwritable, a.err)
			f.Mend = "tune store check reads it without a limit; if it hangs, see whether its disk answers"
		}
		return []Finding{f}
	}
	r := *v.report
	room := fmt.Sprintf("%s free", gib(v.free))
	if cache.IsURL(v.path) {
		room = "room is the server's matter"
	}
	switch {
	case v.refused != "":
		f.Found, f.Mend = v.refused+" cannot be written", "give yourself access to it, or name another file with --store or TUNE_STORE"
		f.err = fmt.Errorf("%w: %s", cache.ErrUnwritable, f.Found)
	case r.Damaged > 0:
		f.State, f.Found = Warning, fmt.Sprintf("%s: %d damaged records of %d", v.path, r.Damaged, r.Entries+r.Configs+r.Damaged)
		f.Means = "what they held is measured again; the rest is used"
		f.Mend = "tune store check lists them; tune store check --repair FILE writes what is sound to another file"
	case v.sized && v.free < leastRoom:
		f.State, f.Found, f.Means, f.Mend = Warning, fmt.Sprintf("%s: its disk has %.0f MB left", v.path, float64(v.free)/1e6), "a tune ends early when the disk is full", "make room"
	case !r.Exists:
		f.State, f.Found, f.Means = OK, fmt.Sprintf("%s: none yet, the first tune makes it; %s", v.path, room), ""
	default:
		f.State, f.Means = OK, ""
		f.Found = fmt.Sprintf("%s: %s, %.1f MB, %d problems, %d schedules tried, %d configs, sound, not locked; %s", v.path, r.Format, float64(r.Bytes)/1e6, r.Problems, r.Entries, r.Configs, room)
	}
	list := []Finding{f}
	for _, w := range r.Warnings {
		if r.Damaged == 0 {
			list = append(list, Finding{Check: checkStore, State: Warning, Found: w, Means: "it was copied or replaced while it was in use, or its disk lost writes", Mend: "tune store check"})
		}
	}
	if v.network {
		list = append(list, Finding{Check: checkStore, State: Note, Found: v.path + " lies on a network file system", Means: "its locks may not hold between machines",
			Mend: "put the store on a local disk with TUNE_STORE, and merge stores with tune store merge"})
	}
	return list
}
