package tuned

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"stenciltune/cache"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// Question is what an answer is sought for.
type Question struct {
	Problem stencil.Problem
	Machine machine.Machine
	Regime  timing.Regime // "" = timing.Warm
}

// Answer is a config and how well it fits.
type Answer struct {
	// Config is complete: its launch is that of the problem asked for, its match says
	// how well it fits, and Expected what it should reach if it was not measured there.
	Config cache.Config
	Grade  cache.Grade
	// Stale is set if the kernel that would be generated now is not the one that was
	// measured.
	Stale bool
}

// Find answers from a store. With Grade None there is no answer, and no error.
func Find(ctx context.Context, s *cache.Store, q Question) (Answer, error) {
	known, grade, err := recall(ctx, s, q)
	if err != nil || len(known) == 0 {
		return Answer{Grade: cache.None}, err
	}
	there := at(q.Problem, q.Machine)
	if grade == cache.Exact {
		c := known[0].config
		stale, err := Refresh(&c, there.problem)
		if err != nil {
			return Answer{}, err
		}
		c.Match = cache.MatchInfo{Grade: cache.Exact}
		if c.Problem.Steps != q.Problem.Steps { // the same class, but another remainder
			sc, err := space.ParseSchedule(c.Schedule.Text)
			if err != nil {
				return Answer{}, err
			}
			relaunch(&c, there.problem, sc)
		}
		if stale {
			c.Warnings = append(slices.Clone(c.Warnings), "the kernel's source has changed since it was measured: tune again")
		}
		return Answer{Config: c, Grade: grade, Stale: stale}, nil
	}
	list := rank(there, known, there.legal())
	if len(list) == 0 {
		return Answer{Grade: cache.None}, nil
	}
	return Answer{Config: adapt(there, grade, known, list[0]), Grade: grade}, nil
}

// Refresh makes the launches of a config from elsewhere those of the kernels generated
// now, if these are not what was measured. A schedule that is not legal on the config's
// own problem and device is an error.
func Refresh(c *cache.Config, p stencil.Problem) (stale bool, err error) {
	sc, err := space.ParseSchedule(c.Schedule.Text)
	if err != nil {
		return false, err
	}
	if err := kernels.Spaces(all.For(p), p, MachineOf(*c)).Check(sc); err != nil {
		return false, err
	}
	if kernelOf(p, sc).SourceHash() == c.Kernel.SourceHash {
		return false, nil
	}
	relaunch(c, p, sc)
	return true, nil
}

// Seeds are the schedules to try first on a problem, best first: what Find would
// answer, and those expected to come next. None if nothing of use is stored.
func Seeds(ctx context.Context, s *cache.Store, q Question, most int) ([]space.Schedule, error) {
	known, _, err := recall(ctx, s, q)
	if err != nil {
		return nil, err
	}
	if len(known) == 0 {
		return nil, nil
	}
	there := at(q.Problem, q.Machine)
	var list []space.Schedule
	for _, r := range rank(there, known, there.legal()) {
		if len(list) == most {
			break
		}
		list = append(list, r.schedule)
	}
	return list, nil
}

// mostPlaces bounds the stored problems that are looked at, nearest first: further
// ones count little.
const mostPlaces = 12

// recall gathers what is stored of the best grade there is, nearest first. A record
// whose schedule is not legal on its own problem is passed over.
func recall(ctx context.Context, s *cache.Store, q Question) ([]evidence, cache.Grade, error) {
	key := KeyOf(q.Problem, q.Machine, cmp.Or(q.Regime, timing.Warm))
	fitting, err := s.Fitting(key)
	if err != nil {
		return nil, cache.None, err
	}
	var known []evidence
	grade := cache.None
	for _, c := range fitting {
		if err := ctx.Err(); err != nil {
			return nil, cache.None, err
		}
		g := key.Match(c.Key)
		if len(known) == mostPlaces || len(known) > 0 && (g != grade || grade == cache.Exact) {
			break
		}
		e, err := gather(s, q.Problem.Stencil, c)
		if err != nil {
			return nil, cache.None, err
		}
		sc, err := space.ParseSchedule(c.Config.Schedule.Text)
		if _, legal := e.seconds[sc]; err != nil || !legal {
			continue
		}
		known, grade = append(known, e), g
	}
	return known, grade, nil
}

func kernelOf(p stencil.Problem, s space.Schedule) kernels.Kernel {
	return kernels.Find(all.For(p), s.Family()).Kernel(p, s)
}

// relaunch makes a config's launches those of a problem and of the kernels generated
// now. What was measured of another source's kernel is dropped.
func relaunch(c *cache.Config, p stencil.Problem, s space.Schedule) {
	kernel := func(s space.Schedule, options []string) (cache.LaunchInfo, cache.KernelInfo) {
		k := kernelOf(p, s)
		info := cache.KernelInfo{Entry: k.Entry, SourceHash: k.SourceHash(), Options: options}
		if info.SourceHash == c.Kernel.SourceHash {
			info = c.Kernel
		}
		return cache.LaunchInfo{Grid: k.Launch.Grid, Block: k.Launch.Block, SharedBytes: k.Launch.SharedBytes, StepsPerLaunch: k.Launch.Steps}, info
	}
	options := c.Kernel.Options
	c.Problem = cache.ProblemInfo{Size: slices.Clone(p.Size[:p.Stencil.Dims]), Steps: p.Steps}
	c.Schedule = cache.ScheduleOf(s)
	c.Remainder = nil
	c.Launch, c.Kernel = kernel(s, options)
	if p.Steps%c.Launch.StepsPerLaunch != 0 {
		rest := kernels.Remainder(s)
		l, k := kernel(rest, options)
		c.Remainder = &cache.RemainderInfo{Schedule: cache.ScheduleOf(rest), Launch: l, Kernel: k}
	}
}

// rounded keeps four digits: the last bits of a logarithm differ between processors, and
// the same store must give the same answer on all.
func rounded(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 3, 64), 64)
	if err != nil {
		panic("tuned: " + err.Error())
	}
	return r
}

// adapt makes the nearest record's config one of another problem or device: nothing in
// it claims to be measured.
func adapt(there place, grade cache.Grade, known []evidence, r ranked) cache.Config {
	c := known[0].config
	from := known[0].key
	for _, e := range known { // whose schedule it is
		if _, t := e.best(); e.seconds[r.schedule] == t {
			from = e.key
			break
		}
	}
	relaunch(&c, there.problem, r.schedule)
	c.Device = cache.DeviceOf(there.machine)
	c.Toolchain.Compiler, c.Toolchain.CUDA = there.machine.Compiler, there.machine.CUDAVersion
	c.Measured = cache.MeasuredInfo{Regime: c.Measured.Regime}
	c.Baseline, c.Speedup, c.RooflineShare, c.Ties, c.Verification = nil, 0, 0, nil, cache.VerificationInfo{}
	c.Expected = &cache.ExpectedInfo{SecondsPerStep: rounded(r.seconds), Loss: rounded(math.Max(0, leaveOneOut(known))), Sizes: len(known)}
	c.Match = cache.MatchInfo{Grade: grade, Note: from.TunedFor()}
	if r.weight == 0 {
		c.Match.Note += "; the schedule itself was measured nowhere"
	}
	c.Warnings = []string{fmt.Sprintf("not measured: match %s, %s", grade, c.Match.Note)}
	return c
}
