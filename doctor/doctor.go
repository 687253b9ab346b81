// Package doctor examines what a tune needs of a machine: the driver and its libraries, rights, a
// compiler, the store, and the state of the GPUs. It says what each finding means and what mends it.
//
// It changes nothing but a file that it makes and removes in the temporary folder. Whatever it asks
// has a time limit, and CUDA's libraries are asked by processes of their own. Bytes, hertz, watts.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"stenciltune/cache"
	"stenciltune/device"
	"stenciltune/device/cuda"
	"stenciltune/tuner"
)

// Format is the format and version of a report as JSON.
const Format = "stenciltune.doctor/v1"

// DefaultLimit is how long each question may take. A driver that wakes eight sleeping GPUs takes half of it.
const DefaultLimit = 20 * time.Second

// State is how bad a finding is.
type State string

const (
	OK      State = "ok"
	Note    State = "note"    // good to know
	Warning State = "warning" // a tune works, and slower, or with less trust in its times
	Problem State = "problem" // a tune on this device does not work
)

// Finding is one thing that was looked at.
type Finding struct {
	Check  string       `json:"check"` // what was looked at
	State  State        `json:"state"`
	Found  string       `json:"found"`
	Means  string       `json:"means,omitempty"`
	Mend   string       `json:"mend,omitempty"` // a command, or what to do
	Places []cuda.Place `json:"looked_at,omitempty"`

	err error // of a problem: what a tune would end with
}

// Report is everything that was found, and the facts behind it.
type Report struct {
	Format   string              `json:"format"`
	Version  string              `json:"version"`
	Device   string              `json:"device"`
	Findings []Finding           `json:"findings"`
	Driver   *cuda.DriverProbe   `json:"driver,omitempty"`
	Compiler *cuda.CompilerProbe `json:"nvrtc,omitempty"`
	NVML     *cuda.NVMLProbe     `json:"nvml,omitempty"`
	Store    *cache.Report       `json:"store,omitempty"`
}

// Err is what a tune on the device would end with: the first problem's error, nil if there is none.
func (r Report) Err() error {
	for _, f := range r.Findings {
		if f.State == Problem {
			return f.err
		}
	}
	return nil
}

// Options say what to examine; the zero Options the first GPU and the user's own store.
type Options struct {
	Device string        // that the tune is to run on, as for tuner.OpenDevice
	Store  string        // file; "" = the user's own
	Limit  time.Duration // of each question; 0 = DefaultLimit

	// Ask asks a library in a process of its own; nil = tuner.Probe.
	Ask func(ctx context.Context, what string, answer any) error
	sys system
}

// Checks, as findings name them.
const (
	checkDriver      = "driver"
	checkGPU         = "GPU"
	checkPermissions = "permissions"
	checkNVRTC       = "NVRTC"
	checkNVML        = "NVML"
	checkClocks      = "clocks"
	checkPower       = "power"
	checkECC         = "ECC"
	checkMIG         = "MIG"
	checkPersistence = "persistence"
	checkMode        = "compute mode"
	checkProcesses   = "processes"
	checkMemory      = "memory"
	checkCache       = "CUDA cache"
	checkHost        = "host compiler"
	checkTemporary   = "temporary folder"
	checkStore       = "store"
)

// needs are the checks without which a tune on a device does not work.
func needs(device string) []string {
	switch {
	case tuner.IsHost(device):
		return []string{checkHost, checkTemporary, checkStore}
	case strings.HasPrefix(device, tuner.ReplayPrefix):
		return []string{checkStore}
	}
	return []string{checkDriver, checkGPU, checkPermissions, checkNVRTC, checkStore}
}

// Examine looks at everything, nearly all at once. It returns within twice the limit and two seconds.
func Examine(ctx context.Context, o Options) Report {
	o.Limit = cmp.Or(o.Limit, DefaultLimit)
	if o.Ask == nil {
		o.Ask = tuner.Probe
	}
	if o.sys.root == "" {
		o.sys = thisSystem()
	}
	driver := asked[cuda.DriverProbe](ctx, o, "driver")
	compiler := asked[cuda.CompilerProbe](ctx, o, "nvrtc")
	host := within(ctx, o.Limit, func(context.Context) (string, error) { return o.sys.host() })
	stored := within(ctx, o.Limit, func(context.Context) (storeFacts, error) { return examineStore(o.Store, o.sys) })
	cached := within(ctx, o.Limit, o.sys.cudaCache)
	temporary := within(ctx, o.Limit, func(context.Context) (folderFacts, error) { return o.sys.temporary() })

	r := Report{Format: Format, Version: tuner.Version, Device: o.Device, Findings: []Finding{}}
	d := <-driver // whose process is one on the GPU: NVML must not count it
	nvml := asked[cuda.NVMLProbe](ctx, o, "nvml")
	c, n, s := <-compiler, <-nvml, <-stored
	r.Driver, r.Compiler, r.NVML, r.Store = d.known(), c.known(), n.known(), s.value.report
	add := func(fs ...Finding) { r.Findings = append(r.Findings, fs...) }
	add(o.sys.driver(d)...)
	add(gpus(d.value, o.Device)...)
	add(o.sys.permissions(works(d.value, o.Device))...)
	add(o.sys.nvrtc(c, d.value, o.Device)...)
	add(o.sys.management(n)...)
	for _, g := range n.value.GPUs {
		add(state(g, called(g, d.value))...)
	}
	add(cacheFindings(<-cached)...)
	add(compilerFinding(<-host), temporaryFinding(<-temporary))
	add(storeFindings(s)...)
	r.judge()
	return r
}

// judge takes what the device does not need for a note, and gives each problem the error that a tune would end with.
func (r *Report) judge() {
	needed := map[string]bool{}
	for _, n := range needs(r.Device) {
		needed[n] = true
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		switch {
		case f.State == Problem && !needed[f.Check]:
			f.State = Note
			f.Means = strings.TrimSuffix("a tune on "+cmp.Or(r.Device, "a GPU")+" does without it; "+f.Means, "; ")
		case f.State == Problem && f.err == nil:
			f.err = fmt.Errorf("%w: %s", device.ErrMissing, f.Found)
		}
	}
}

// answer is what a question came to.
type answer[T any] struct {
	value T
	err   error
}

// known is the answer if there is one.
func (a answer[T]) known() *T {
	if a.err != nil {
		return nil
	}
	return &a.value
}

// silent tells whether a question was not answered in its time.
func (a answer[T]) silent() bool { return errors.Is(a.err, tuner.ErrNoAnswer) }

// within runs a question and gives its answer, or after the limit that there is none: what it runs is
// then left alone, for it may hang in the system.
func within[T any](ctx context.Context, limit time.Duration, ask func(context.Context) (T, error)) <-chan answer[T] {
	out := make(chan answer[T], 1)
	go func() {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		got := make(chan answer[T], 1)
		go func() {
			v, err := ask(ctx)
			got <- answer[T]{v, err}
		}()
		select {
		case a := <-got:
			out <- a
		case <-ctx.Done():
			// What is asked minds the limit itself, mostly, and says better what happened.
			select {
			case a := <-got:
				out <- a
			case <-time.After(time.Second):
				out <- answer[T]{err: fmt.Errorf("%w within %.0f s", tuner.ErrNoAnswer, limit.Seconds())}
			}
		}
	}()
	return out
}

// asked asks one of CUDA's libraries.
func asked[T any](ctx context.Context, o Options, what string) <-chan answer[T] {
	return within(ctx, o.Limit, func(ctx context.Context) (v T, err error) {
		err = o.Ask(ctx, what, &v)
		return v, err
	})
}
