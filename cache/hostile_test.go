package cache

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"stenciltune/machine"
	"stenciltune/timing"
)

// hostile are records that who may write to a store can put beside those of a key, and none of which is to be taken.
func hostile(t *testing.T, key Key) (list []record) {
	t.Helper()
	text, noise := key.String(), make([]byte, 500)
	for i := range noise {
		noise[i] = byte(rand.IntN(256))
	}
	sealed := func(at spot, payload any) {
		raw, ok := payload.([]byte)
		if !ok {
			var err error
			raw, err = json.Marshal(payload)
			must(t, err)
		}
		raw, err := seal(at.place(), raw)
		must(t, err)
		list = append(list, record{at, raw})
	}
	// In the journal.
	n := 100
	entry := func(change func(*Entry)) (spot, []byte) {
		n++
		e := testEntry(n)
		at := entryAt(text, e)
		change(&e)
		b, err := json.Marshal(e)
		must(t, err)
		return at, b
	}
	for _, raw := range [][]byte{noise, {}, []byte("{}"), stranger(t)} {
		at, _ := entry(func(*Entry) {})
		list = append(list, record{at, raw})
	}
	for _, v := range []float64{0, -1e-4, 1e-310, 1e308} {
		at, b := entry(func(e *Entry) {
			for i := range e.Series.Samples {
				e.Series.Samples[i] = v
			}
			e.Series.Summary = timing.Summary{Median: v, Low: v, High: v, Min: v, N: 7}
		})
		sealed(at, b)
	}
	for _, change := range []func(*Entry){
		func(e *Entry) { e.Status = "splendid" },
		func(e *Entry) { e.Series.Samples = nil },
		func(e *Entry) { e.DeviceSeconds = -1 },
		func(e *Entry) { e.Schedule = testEntry(0).Schedule },
		func(e *Entry) { e.SourceHash = "\x1b[2J" },
	} {
		at, b := entry(change)
		sealed(at, b)
	}
	at, b := entry(func(*Entry) {})
	sealed(at, bytes.Replace(b, []byte(`"samples":[`), []byte(`"samples":[NaN,`), 1))
	sealed(spot{partJournal, text, "\x1b]0;owned\a \u202e \u009b2J"}, b)
	// Best configs: of another problem, never measured, with a launch of no thread; of keys that are none.
	other := func(change func(*Config)) {
		n++
		k := key
		k.Size = fmt.Sprintf("%dx64x64", n)
		c := configAt(k)
		change(&c)
		b, err := json.Marshal(plainConfig(c))
		must(t, err)
		sealed(bestAt(k), b)
	}
	other(func(c *Config) { c.Problem.Size[0]++ })
	other(func(c *Config) { c.Device.Name = "No Such GPU" })
	other(func(c *Config) { c.Launch.Block[0] = 0 })
	other(func(c *Config) { c.Schedule.Parameters = map[string]int{"gx": 7} })
	other(func(c *Config) { c.Search.Complete = false })
	for _, v := range []float64{0, -1, 1e-310} {
		other(func(c *Config) { c.Measured.SecondsPerStep = v })
	}
	odd := key
	odd.DeviceName = "GPU\x1b[2J\nforged line \u202e"
	for _, text := range []string{"\x1b[2J", "v1 nothing", odd.String(), strings.Repeat("k", 2000)} {
		sealed(spot{part: partBest, key: text}, testConfig())
	}
	sealed(entryAt(odd.String(), testEntry(0)), testEntry(0))
	// What runs, what it costs, what was begun.
	worker := Running{Worker: "a:1:0", Phase: "search", Stencil: StencilInfo{Name: "x"}}
	for name, change := range map[string]func(*Running){
		"another's":  func(r *Running) { r.Worker = "b:1:0" },
		"best time":  func(r *Running) { r.Worker, r.BestTime = "best time", 1e-310 },
		"lease":      func(r *Running) { r.Worker, r.Lease = "lease", 1e300 },
		"left":       func(r *Running) { r.Worker, r.Left = "left", -1 },
		"size":       func(r *Running) { r.Worker, r.Problem.Size = "size", []int{1 << 40} },
		"dimensions": func(r *Running) { r.Worker, r.Problem.Size = "dimensions", []int{9, 9, 9, 9} },
	} {
		r := worker
		change(&r)
		sealed(workerAt(text, name), r)
	}
	list = append(list, record{workerAt(text, "noise"), noise}, record{spot{partIntents, text, "no schedule"}, noise})
	for i, r := range []machine.Rates{{L2Bytes: 1e-310}, {Launch: -1}, {DRAMLatency: 1e300}} {
		sealed(ratesAt(machine.Machine{Kind: machine.CUDA, UUID: fmt.Sprint(i)}), DeviceRates{Rates: r})
	}
	return list
}

// stranger is a sound record of another problem.
func stranger(t *testing.T) []byte {
	raw, err := sealJSON(entryAt(testKey(3).String(), testEntry(101)).place(), testEntry(101))
	must(t, err)
	return raw
}

// inject puts records as any client of a database can, or into a file. The last is so many bytes long, which the server makes.
func inject(t *testing.T, s *Store, list []record, large spot, size int) {
	t.Helper()
	d, ok := s.engine.(*database)
	if !ok {
		for _, r := range append(list, record{large, bytes.Repeat([]byte("x"), size)}) {
			put(t, s, r.spot, r.value)
		}
		return
	}
	ctx := context.Background()
	key := `insert into tune_key (text) values ($1) on conflict do nothing`
	value := `insert into tune_record (key, part, name, value) select id, $2, $3, decode($4, 'hex') from tune_key where text = $1`
	repeated := `convert_to(repeat('x', $4::int), 'UTF8')`
	keyed := func(r spot) []string { return []string{r.key} }
	if _, ok := d.server.(*mySQL); ok {
		key = `insert into tune_key values (unhex(left(sha2(?, 256), 32)), ?) on duplicate key update text = text`
		value = `insert into tune_record values (unhex(left(sha2(?, 256), 32)), ?, ?, unhex(?))`
		repeated = `repeat('x', ?)`
		keyed = func(r spot) []string { return []string{r.key, r.key} }
		must(t, d.view(0, statement{sql: `set global max_allowed_packet = 1 << 30`})) // of connections to come
	}
	l, err := d.connect(ctx)
	must(t, err)
	defer l.close(ctx)
	for _, r := range list {
		must(t, l.send(ctx, statement{sql: key, params: keyed(r.spot)}, statement{sql: value, params: []string{r.key, r.part, r.name, hex.EncodeToString(r.value)}}))
	}
	value = strings.NewReplacer(`decode($4, 'hex')`, repeated, `unhex(?))`, repeated+`)`).Replace(value)
	must(t, l.send(ctx, statement{sql: value, params: []string{large.key, large.part, large.name, fmt.Sprint(size)}}))
}

var largeRecord = flag.Int("large-record", 32, "MiB of the longest record that is put into a store")

// Records that another client has put, by SQL where the store is a database, count as damaged: they are said, none of them is
// taken, and what is sound beside them is answered. Of one that is too long no more is read than shows so.
func TestHostileRecordsAreDamage(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) {
		s := fresh()
		key := testKey(7)
		must(t, s.PutBest(key, testConfig()))
		must(t, s.Record(key, testEntry(0), testEntry(1)))
		must(t, s.Begin(key, testEntry(2).Schedule))
		must(t, s.Advance(key, &Running{Worker: "good:1:0", Phase: "search"}, nil))
		list := hostile(t, key)
		inject(t, s, list, spot{partJournal, key.String(), "large"}, *largeRecord<<20)
		want := len(list) + 1
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s = reopen(t, s.Path())
		entries, err := s.Entries(key)
		runtime.ReadMemStats(&after)
		if err != nil || len(entries) != 2 || entries[0].Seconds() < 1e-5 {
			t.Errorf("%d entries, %v", len(entries), err)
		}
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 20 {
			t.Errorf("%d MiB to read them", took)
		}
		k := key
		k.Size = "120x64x64" // nearest to those that are none
		if c, grade, ok, err := s.Best(k); err != nil || !ok || grade != OtherSize || c.Problem.Size[0] != 512 {
			t.Errorf("best: %v, %v, %v", grade, c.Problem.Size, err)
		}
		if all, err := s.Running(); err != nil || len(all) != 1 || len(all[key]) != 1 || all[key][0].Worker != "good:1:0" {
			t.Errorf("%d are told of, %v", len(all[key]), err)
		}
		if u, err := s.Unfinished(key); err != nil || len(u) != 1 {
			t.Errorf("%+v, %v", u, err)
		}
		if _, ok, err := s.Rates(machine.Machine{Kind: machine.CUDA, UUID: "0"}); ok || err != nil {
			t.Errorf("rates: %v, %v", ok, err)
		}
		r, err := s.Check()
		if err != nil || r.Damaged != want || len(r.Places) != want || r.Entries != 2 || r.Configs != 1 || len(r.Warnings) != 1 {
			t.Errorf("%d of %d are said, %d entries, %d configs, %q, %v", r.Damaged, want, r.Entries, r.Configs, r.Warnings, err)
		}
		for _, p := range r.Places {
			if strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Errorf("a place with control characters: %q", p)
			}
		}
		begin := time.Now()
		must(t, s.Record(key, testEntry(3)))
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("a record takes %v", took)
		}
	})
}
