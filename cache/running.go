package cache

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"stenciltune/timing"
)

// DefaultLease is how long a tune that tells nothing is taken to be alive. It tells of itself
// several times as often.
const DefaultLease = 30 * time.Second

// Running is what a tune tells while it runs, so that others can look on. It stays until
// PutBest stores what came of the tune: of one that was killed At says how old it is.
type Running struct {
	Worker    string             `json:"worker"` // "host:process:number", its name among the tunes of a store
	Stencil   StencilInfo        `json:"stencil"`
	Problem   ProblemInfo        `json:"problem"`
	Scalars   map[string]float64 `json:"scalars,omitempty"`
	Device    DeviceInfo         `json:"device"`
	Toolchain ToolchainInfo      `json:"toolchain"`
	Regime    timing.Regime      `json:"regime"`
	Objective timing.Objective   `json:"objective,omitempty"`
	Shared    bool               `json:"shared,omitempty"` // it claims what it measures

	Phase     string    `json:"phase"`               // "baseline", "search", "finals"; "" = it has ended, and nothing came of it
	Trying    string    `json:"trying,omitempty"`    // the schedule that was begun last
	Evaluated int       `json:"evaluated,omitempty"` // schedules it knows the outcome of, others' included
	Best      string    `json:"best,omitempty"`      // the fastest of them
	BestTime  float64   `json:"best_time,omitempty"` // its seconds a step
	Left      float64   `json:"left,omitempty"`      // seconds until the search ends, should it find nothing better; 0 = not known
	Lease     float64   `json:"lease,omitempty"`     // seconds without a word after which it is taken for dead
	Begun     time.Time `json:"begun"`               // UTC
	At        time.Time `json:"at"`                  // UTC by the store's clock, when this was told; Advance and Share set it

	Age time.Duration `json:"-"` // since At; Running sets it
}

// Config is what a config would say of the problem and the device.
func (r Running) Config() Config {
	c := Config{Stencil: r.Stencil, Problem: r.Problem, Scalars: r.Scalars, Device: r.Device, Toolchain: r.Toolchain}
	c.Measured.Regime = r.Regime
	return c
}

// Alive tells whether it runs and has told so lately.
func (r Running) Alive() bool { return r.Phase != "" && r.Age < r.lease() }

func (r Running) lease() time.Duration {
	if r.Lease > 0 {
		return time.Duration(r.Lease * float64(time.Second))
	}
	return DefaultLease
}

// aliveAt is Alive at a time of the store.
func (r Running) aliveAt(now time.Time) bool {
	r.Age = now.Sub(r.At)
	return r.Alive()
}

// possible tells whether a tune can tell so.
func (r Running) possible() bool {
	for _, n := range r.Problem.Size {
		if n < 1 || n > 1<<30 || len(r.Problem.Size) > 3 {
			return false
		}
	}
	const longest = 1e9 // seconds
	return (r.BestTime == 0 || timing.Plausible(r.BestTime)) && r.Left >= 0 && r.Left <= longest && r.Lease >= 0 && r.Lease <= longest
}

// workerAt is where a tune tells how it goes: under the key of its journal.
func workerAt(key, worker string) spot { return spot{partWorkers, key, worker} }

// tell writes what a tune tells.
func tell(tx transaction, key string, r Running) error {
	r.At = tx.now().UTC()
	return putJSON(tx, workerAt(key, r.Worker), r)
}

// Running is what tunes tell that run, or ended without a config, by the keys of their journals,
// those of a key in the order of their workers' names.
func (s *Store) Running() (map[Key][]Running, error) {
	keys, err := s.keys(partWorkers, "")
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	byText := map[string]Key{}
	var at []spot
	for _, k := range keys {
		byText[k.String()] = k
		at = append(at, spot{part: partWorkers, key: k.String()})
	}
	records, err := s.engine.read(at...)
	if err != nil || len(records) == 0 {
		return nil, err
	}
	now, err := s.engine.now()
	if err != nil {
		return nil, err
	}
	all := map[Key][]Running{}
	for _, rec := range records {
		var r Running
		if unsealJSON(rec.place(), rec.value, &r) != nil || r.Worker != rec.name || !r.possible() {
			s.health.spoilt(rec.place())
			continue
		}
		for _, text := range []*string{&r.Worker, &r.Stencil.Name, &r.Device.Name, &r.Phase, &r.Trying, &r.Best} {
			clean(text, maxNote)
		}
		r.Age = now.Sub(r.At)
		all[byText[rec.key]] = append(all[byText[rec.key]], r)
	}
	return all, nil
}

// Stamp is a text that is another one after every change, for who looks on: it is cheap, and
// waits for nobody. While there is no store it is empty.
func (s *Store) Stamp() (string, error) { return s.engine.stamp() }

// stamp is the file's first two pages, of which every transaction writes one.
func (s *boltFile) stamp() (string, error) {
	if _, err := s.stat(); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	f, err := os.Open(s.file)
	if err != nil {
		return "", classify(s.file, "read", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, int64(2*os.Getpagesize())))
	return string(b), classify(s.file, "read", err)
}
