package cuda

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ebitengine/purego"

	"stenciltune/device"
)

// library is a shared library and the symbols looked up in it.
type library struct {
	name   string // as opened
	handle uintptr
	fns    map[string]uintptr
	places []Place // looked at, this one last
}

// Place is where a library was looked for, and what came of it.
type Place struct {
	File   string `json:"file"`   // a path, or a name that the system's loader looks for
	Result string `json:"result"` // Opened, or why not
}

// Opened is the result of a place where a library was found.
const Opened = "opened"

// lookupError is a library that was not found, or is not fit.
type lookupError struct {
	error
	places []Place
}

func (e *lookupError) Unwrap() error { return e.error }

// openLibrary tries sonames and absolute paths in order. The search is the
// system's own: never the current folder. An environment variable names one
// file instead, for tests and odd installations.
func openLibrary(env, what, remedy string, candidates []string, symbols, optional []string) (*library, error) {
	var places []Place
	fail := func(format string, args ...any) (*library, error) {
		return nil, &lookupError{fmt.Errorf("%w: "+format, append([]any{device.ErrMissing}, args...)...), places}
	}
	if file := os.Getenv(env); file != "" {
		if !filepath.IsAbs(file) {
			return fail("%s=%q must be an absolute path", env, file)
		}
		candidates = []string{file}
	}
	// dlerror, which explains a failure, is the OS thread's own.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, c := range candidates {
		if filepath.IsAbs(c) {
			if info, err := os.Stat(c); err != nil || !info.Mode().IsRegular() {
				places = append(places, Place{c, "no such file"})
				continue
			}
		}
		h, err := purego.Dlopen(c, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err != nil {
			places = append(places, Place{c, err.Error()})
			continue
		}
		l := &library{name: c, handle: h, fns: map[string]uintptr{}, places: append(places, Place{c, Opened})}
		for _, s := range symbols {
			p, err := purego.Dlsym(h, s)
			if err != nil || p == 0 {
				places = append(places, Place{c, "has no " + s})
				return fail("%s in %s has no %s: it is too old; %s", what, c, s, remedy)
			}
			l.fns[s] = p
		}
		for _, s := range optional {
			if p, err := purego.Dlsym(h, s); err == nil {
				l.fns[s] = p
			}
		}
		return l, nil
	}
	first := places[0].Result
	if !strings.Contains(first, places[0].File) { // as the loader's own messages do
		first = places[0].File + ": " + first
	}
	return fail("%s not found (looked for %s: %s); %s", what, strings.Join(sonames(candidates), ", "), first, remedy)
}

// sonames keeps an error short: the plain names, or all if there are none.
func sonames(candidates []string) []string {
	var names []string
	for _, c := range candidates {
		if !filepath.IsAbs(c) {
			names = append(names, c)
		}
	}
	if len(names) == 0 {
		return candidates
	}
	return names
}

// call calls a symbol with integer and pointer arguments and gives its status.
// Pointers are passed as by cu.
//
//go:uintptrescapes
func (l *library) call(symbol string, args ...uintptr) int {
	r, _, _ := purego.SyscallN(l.fns[symbol], args...)
	return int(int32(r))
}

// has tells whether an optional symbol is there.
func (l *library) has(symbol string) bool { return l.fns[symbol] != 0 }

// toolkitFolders are where a toolkit or pip puts NVRTC when the loader's own
// path does not have it.
func toolkitFolders() []string {
	var dirs []string
	for _, env := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if d := os.Getenv(env); filepath.IsAbs(d) {
			dirs = append(dirs, filepath.Join(d, "lib64"), filepath.Join(d, "lib"))
		}
	}
	dirs = append(dirs, "/usr/local/cuda/lib64", "/opt/cuda/lib64")
	patterns := []string{"/usr/lib/python3*/*-packages", "/usr/local/lib/python3*/*-packages", "/opt/*/lib/python3*/site-packages"}
	if v := os.Getenv("VIRTUAL_ENV"); filepath.IsAbs(v) {
		patterns = append([]string{filepath.Join(v, "lib/python3*/site-packages")}, patterns...)
	}
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		patterns = append(patterns, filepath.Join(home, ".local/lib/python3*/site-packages"))
	}
	for _, p := range patterns {
		for _, sub := range []string{"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"} {
			found, err := filepath.Glob(filepath.Join(p, sub))
			if err == nil {
				dirs = append(dirs, found...)
			}
		}
	}
	return dirs
}
