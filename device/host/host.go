// Package host runs kernels on this machine's processor: the same CUDA text,
// compiled by the host's C++ compiler against a small emulation of CUDA.
//
// It proves answers where there is no GPU, and can do so under AddressSanitizer.
// Every compiled kernel is a program of its own, so that one that hangs or
// crashes takes nothing with it. Its times are real, but they are the host's.
package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/stencil"
)

// Options choose the compiler and what it is asked for. The zero value is fine.
type Options struct {
	Compiler string // path or name of a C++ compiler; "" = $CXX, else c++, g++ or clang++
	Sanitize bool   // build with the address and undefined behaviour sanitizers
	Races    bool   // look for races between threads of a launch (emulation/races.h), with g++
}

// Device is the host. It owns a private folder of programs until Close.
type Device struct {
	options  Options
	compiler string
	version  string
	gold     atomic.Bool // programs are linked by gold
	folder   *folder
	dir      string // the folder's path
	machine  machine.Machine
	runtime  func() error // compiles the emulation's runtime, once
	slots    chan struct{}
	serial   atomic.Int64

	mu       sync.Mutex
	want     map[wantKey]stencil.Verdict
	programs map[string]string // path of a binary's program, by ID
	users    map[string]int    // binaries of a program, by path
}

var (
	_ device.Device = (*Device)(nil)
	_ device.Copier = (*Device)(nil)
)

// wantKey names an expected answer.
type wantKey struct {
	course  string
	steps   int
	trusted string // ID of the trusted binary; "" = the reference
}

// Open looks for a compiler and makes the private folder. Without a compiler the
// error is a device.ErrMissing.
func Open(o Options) (*Device, error) {
	f, err := newFolder()
	if err != nil {
		return nil, err
	}
	d := &Device{options: o, folder: f, dir: f.path, want: map[wantKey]stencil.Verdict{}, programs: map[string]string{}, users: map[string]int{}}
	if err := d.findCompiler(); err != nil {
		return nil, errors.Join(err, f.close())
	}
	d.machine = facts(d.version)
	d.slots = make(chan struct{}, d.machine.SMs)
	d.runtime = sync.OnceValue(d.compileRuntime)
	return d, nil
}

// Machine is the processor, with the limits of a GPU of compute capability 9.0,
// so that the same schedules are legal.
func (d *Device) Machine() machine.Machine { return d.machine }

// Ready compiles what all programs share, and so tells whether the compiler works.
func (d *Device) Ready() error { return d.runtime() }

// Release deletes a binary's program once no other binary shares it.
func (d *Device) Release(b device.Binary) {
	d.mu.Lock()
	defer d.mu.Unlock()
	path, ok := d.programs[b.ID]
	if !ok {
		return
	}
	delete(d.programs, b.ID)
	if d.users[path]--; d.users[path] == 0 {
		delete(d.users, path)
		os.Remove(path)
	}
}

// Close deletes the private folder.
func (d *Device) Close() error { return d.folder.close() }

// program is the path of a binary's program.
func (d *Device) program(b device.Binary) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	path, ok := d.programs[b.ID]
	if !ok {
		return "", fmt.Errorf("host: %s was released", b.Schedule)
	}
	return path, nil
}

// temp is the name of a new file in the private folder.
func (d *Device) temp(kind string) string {
	return filepath.Join(d.dir, fmt.Sprintf("%s%d", kind, d.serial.Add(1)))
}

// CopyBandwidth copies a buffer of the given size (64 MiB at most), the median of
// five, and counts bytes read plus bytes written.
func (d *Device) CopyBandwidth(_ context.Context, bytes int64) (float64, error) {
	n := min(bytes, 64<<20)
	src, dst := make([]byte, n), make([]byte, n)
	var best time.Duration
	for range 5 {
		begin := time.Now()
		copy(dst, src)
		if t := time.Since(begin); best == 0 || t < best {
			best = t
		}
	}
	return 2 * float64(n) / best.Seconds(), nil
}

// Compile builds a kernel as a program of its own.
func (d *Device) Compile(ctx context.Context, k kernels.Kernel) (device.Binary, error) {
	bs, err := d.build(ctx, []kernels.Kernel{k}, forSpeed)
	if err != nil {
		return device.Binary{}, err
	}
	return bs[0], nil
}
