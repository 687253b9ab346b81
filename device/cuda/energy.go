package cuda

import (
	"context"
	"errors"
	"math"
	"time"

	"stenciltune/device"
	"stenciltune/timing"
)

// Metered tells whether NVML has an energy counter for this GPU. An instance of a partitioned
// GPU (MIG) shares the board's counter with others, so it has none.
func (g *GPU) Metered() bool {
	if g.nvml == nil || g.machine.MIG {
		return false
	}
	_, ok := g.nvml.millijoules()
	return ok
}

// Energy launches a run again and again, without a pause, and reads the energy counter
// meanwhile. If anything was written beside the arrays it fails as giving a wrong answer.
func (g *GPU) Energy(ctx context.Context, e device.Energy) (draw timing.Draw, err error) {
	if !g.Metered() {
		return draw, errors.New("cuda: " + g.machine.Name + " has no energy counter")
	}
	err = g.do(func() error {
		t := device.Timing{Problem: e.Problem, Runs: []device.Pass{e.Run}, Policy: timing.Search()}
		s, runs, err := g.ready(ctx, t)
		if err != nil {
			return err
		}
		if draw, err = g.stretch(ctx, s, runs[0], e.Stretch); err != nil {
			return g.failed(e.Run.Binary, "running", err)
		}
		return g.untouched(e.Problem)
	})
	return draw, err
}

// A batch of launches lasts long enough for the next one to be on the stream before it ends, and
// has fewer launches than the driver queues.
const (
	batchSeconds  = 5e-3
	batchLaunches = 256
)

// readInterval is the most often that the energy counter is read, and stateInterval the clock and
// what lowers it: a question to NVML costs some tens of microseconds.
const (
	readInterval  = time.Millisecond
	stateInterval = 10 * time.Millisecond
)

// gauge reads what NVML tells while launches run.
type gauge struct {
	nvml        *nvml
	begin       time.Time
	read, asked time.Time
	reading     timing.Reading
}

// look gives the meter a reading, if it is time for one.
func (u *gauge) look(m *timing.Meter) {
	now := time.Now()
	if now.Sub(u.read) < readInterval {
		return
	}
	if now.Sub(u.asked) >= stateInterval {
		u.reading.ClockHz = 1e6 * float64(u.nvml.u32("nvmlDeviceGetClockInfo", 1))
		u.reading.Lowered, _ = u.nvml.throttle()
		u.asked = now
	}
	if mj, ok := u.nvml.millijoules(); ok { // else it stands still
		u.reading.Millijoules = mj
	}
	u.read = time.Now()
	u.reading.Seconds = u.read.Sub(u.begin).Seconds()
	m.Add(u.reading)
}

// stretch keeps two batches on the stream until the meter is content. On the GPU's thread.
func (g *GPU) stretch(ctx context.Context, s *state, r *timed, policy timing.Stretch) (timing.Draw, error) {
	once, err := g.region(ctx, func() error { return g.launches(s, r) })
	if err != nil {
		return timing.Draw{}, err
	}
	launch := math.Max(once/float64(r.launches), 1e-7)
	r.launches = int(min(math.Ceil(batchSeconds/launch), batchLaunches))
	policy.Limit += 4 * launch * float64(r.launches) // of launches that take long, some must end
	m, u := timing.NewMeter(policy), gauge{nvml: g.nvml, begin: time.Now()}
	end := func(batch int) cuEvent { return g.batches[batch%len(g.batches)] }
	if err := cuEventRecord(end(0)); err != nil {
		return timing.Draw{}, err
	}
	for queued, ended := 0, 0; m.More(); {
		if err := overdue(ctx); err != nil {
			return timing.Draw{}, err
		}
		for queued < ended+2 {
			queued++
			if err := g.launches(s, r); err != nil {
				return timing.Draw{}, err
			}
			if err := cuEventRecord(end(queued)); err != nil {
				return timing.Draw{}, err
			}
		}
		u.look(m)
		done, err := cuEventQuery(end(ended + 1))
		if err != nil {
			return timing.Draw{}, err
		}
		if !done {
			time.Sleep(100 * time.Microsecond)
			continue
		}
		elapsed, err := cuEventElapsed(end(ended), end(ended+1))
		if err != nil {
			return timing.Draw{}, err
		}
		m.Ran(elapsed, r.launches*r.run.Launch.Steps)
		ended++
	}
	return m.Draw(), g.finish(ctx)
}
