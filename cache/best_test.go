package cache

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"stenciltune/machine"
	"stenciltune/timing"
)

// unexported lets cmp compare configs.
var unexported = cmpopts.IgnoreUnexported(Config{})

func TestBestRoundTrip(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) {
		s := fresh()
		must(t, s.PutBest(testKey(7), testConfig()))
		c, grade, ok, err := reopen(t, s.Path()).Best(testKey(7))
		if err != nil || !ok || grade != Exact {
			t.Fatal(grade, ok, err)
		}
		if d := cmp.Diff(testConfig(), c, unexported); d != "" {
			t.Error(d)
		}
		bad := testConfig()
		bad.Schedule.Text = "?"
		if s.PutBest(testKey(0), bad) == nil {
			t.Error("an invalid config was stored")
		}
		all, err := s.Bests()
		must(t, err)
		if len(all) != 1 || all[0].Key != testKey(7) {
			t.Error(all)
		}
	})
}

// TestBestNearest stores configs for ever nearer keys, in any order, and wants
// the nearest at each turn.
// TestEachObjectiveHasItsAnswer: a config that was chosen by energy answers nobody who asks for time.
func TestEachObjectiveHasItsAnswer(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) {
		s := fresh()
		byEnergy := energyConfig()
		key := KeyOf(byEnergy)
		if key.Objective != timing.ForEnergy || key.Journal() != KeyOf(testConfig()) {
			t.Fatal(key)
		}
		must(t, s.PutBest(key, byEnergy))
		for _, o := range []timing.Objective{timing.ForTime, timing.ForEDP} {
			if _, _, ok, err := s.Best(key.For(o)); ok || err != nil {
				t.Errorf("%s: %v %v", o, ok, err)
			}
		}
		must(t, s.PutBest(key.Journal(), testConfig()))
		other := testKey(0).For(timing.ForEnergy) // another size
		for o, want := range map[timing.Objective]timing.Objective{timing.ForTime: "", timing.ForEnergy: timing.ForEnergy} {
			c, grade, ok, err := s.Best(other.For(o))
			if err != nil || !ok || grade != OtherSize || c.Objective != want {
				t.Errorf("%s: %v %v %v %q", o, grade, ok, err, c.Objective)
			}
		}
		var b strings.Builder
		must(t, s.Export(&b, false, func(Key) bool { return true }))
		into := fresh()
		done, err := into.Import(strings.NewReader(b.String()), nil)
		if err != nil || done.Configs != 2 || len(done.Refused) != 0 {
			t.Errorf("%+v %v", done, err)
		}
	})
}

func TestBestNearest(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) {
		asked := testKey(7) // 512x512x512, many steps, H200, 9.0, 580
		change := func(f func(*Key)) Key { k := asked; f(&k); return k }
		nearestFirst := []Key{
			asked,
			change(func(k *Key) { k.Size = "512x512x640" }),
			change(func(k *Key) { k.Size = "1024x512x256" }),
			change(func(k *Key) { k.Size = "4096x4096x4096" }),
			change(func(k *Key) { k.StepsClass = "4" }),
			change(func(k *Key) { k.Driver = "570" }),
			change(func(k *Key) { k.Driver = "470" }),
			change(func(k *Key) { k.Size = "4096x4096x4096"; k.Driver = "570" }),
			change(func(k *Key) { k.DeviceName = "NVIDIA H100"; k.MemoryBytes = 94 << 30 }),
			change(func(k *Key) { k.DeviceName = "NVIDIA H100"; k.MemoryBytes = 80 << 30 }),
			change(func(k *Key) { k.DeviceName = "NVIDIA A100"; k.ComputeCapability = "8.0" }),
		}
		none := []Key{
			change(func(k *Key) { k.Kind = machine.Replay }),
			change(func(k *Key) { k.DType = "float64" }),
			change(func(k *Key) { k.StencilHash = strings.Repeat("0", 64) }),
		}
		s := fresh()
		for _, k := range none {
			must(t, s.PutBest(k, configAt(k)))
		}
		if _, _, ok, err := s.Best(asked); ok || err != nil {
			t.Fatal(ok, err)
		}
		for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(len(nearestFirst)) {
			c := configAt(nearestFirst[i])
			c.Search.Seed = uint64(i)
			must(t, s.PutBest(nearestFirst[i], c))
		}
		for i, k := range nearestFirst {
			c, grade, ok, err := s.Best(asked)
			if err != nil || !ok || c.Search.Seed != uint64(i) || grade != asked.Match(k) || c.Match.Grade != grade {
				t.Fatalf("turn %d: config %d, %v, %v, %v", i, c.Search.Seed, grade, ok, err)
			}
			if (c.Match.Note == "") != (grade == Exact) || grade != Exact && !strings.Contains(c.Match.Note, k.Size) {
				t.Errorf("%v: note %q", grade, c.Match.Note)
			}
			if _, err := Encode(c); err != nil {
				t.Error(err)
			}
			must(t, s.ForgetBest(k))
		}
	})
}

func TestBestSkipsDamaged(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) {
		s := fresh()
		must(t, s.PutBest(testKey(0), configAt(testKey(0))))
		must(t, s.PutBest(testKey(1), configAt(testKey(1))))
		value := slices.Clone(stored(t, s, bestAt(testKey(0))))
		value[100] ^= 4
		put(t, s, bestAt(testKey(0)), value)
		for range 2 {
			if _, grade, ok, err := s.Best(testKey(0)); err != nil || !ok || grade != OtherSize {
				t.Fatal(grade, ok, err)
			}
			if s.Damaged() != 1 || len(s.Warnings()) != 1 {
				t.Error(s.Damaged(), s.Warnings())
			}
		}
	})
}
