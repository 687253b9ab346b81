package cache

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"stenciltune/machine"
	"stenciltune/timing"
)

func TestStepsClass(t *testing.T) {
	for steps, want := range map[int]string{1: "1", 15: "15", 16: "many", 1000: "many"} {
		if got := StepsClass(steps); got != want {
			t.Errorf("%d steps: %s, want %s", steps, got, want)
		}
	}
}

func TestKeyText(t *testing.T) {
	k := testKey(7)
	want := "v1 stencil=" + k.StencilHash + ` dtype=float32 boundary=clamp size=512x512x512 steps=many regime=warm kind=cuda device="NVIDIA H200" cc=9.0 memory=140GiB driver=580 compiler="NVRTC 13"`
	if got := k.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := k.For(timing.ForEDP).String(); got != want+" objective=edp" {
		t.Errorf("got  %s", got)
	}
	if k.For(timing.ForTime) != k || k.For(timing.ForEDP).Journal() != k || k.For(timing.ForEnergy).For(timing.ForEDP) != k.For(timing.ForEDP) {
		t.Error("time is not the objective of a key without one")
	}
	host := k.On(machine.Machine{Kind: machine.Host, Name: "AMD EPYC", MemoryBytes: 64 << 30, Compiler: "g++ 12.2.0"})
	want = "v1 stencil=" + k.StencilHash + ` dtype=float32 boundary=clamp size=512x512x512 steps=many regime=warm kind=host device="AMD EPYC" cc="" memory=64GiB driver="" compiler="g++ 12"`
	if got := host.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestKeyRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringMatching(`[a-z0-9=" ,\\]{0,8}`), rapid.String())
		k := Key{
			StencilHash: text.Draw(t, "hash"), DType: text.Draw(t, "dtype"), Boundary: text.Draw(t, "boundary"),
			Size: text.Draw(t, "size"), StepsClass: text.Draw(t, "steps"), Regime: text.Draw(t, "regime"), Kind: machine.Kind(text.Draw(t, "kind")),
			DeviceName: text.Draw(t, "device"), ComputeCapability: text.Draw(t, "cc"),
			MemoryBytes: rapid.Int64Range(0, 1<<20).Draw(t, "memory") << 30, Driver: text.Draw(t, "driver"), Compiler: text.Draw(t, "compiler"),
			Objective: timing.Objective(text.Draw(t, "objective")),
		}
		got, err := ParseKey(k.String())
		if err != nil || got != k {
			t.Fatalf("%s: %+v, %v", k, got, err)
		}
		if k.Match(got) != Exact {
			t.Fatal("a key does not match itself")
		}
	})
}

func TestParseKeyRefuses(t *testing.T) {
	good := testKey(0).String()
	for i := range good {
		if _, err := ParseKey(good[:i]); err == nil {
			t.Errorf("cut at %d: taken", i)
		}
	}
	for _, bad := range []string{good + " ", good + " x=1", good + " objective=", good + ` objective=""`, good + " objective=edp x=1", "v2" + good[2:], " " + good} {
		if _, err := ParseKey(bad); err == nil {
			t.Errorf("taken: %s", bad)
		}
	}
}

func TestMatch(t *testing.T) {
	k := testKey(0)
	for want, changes := range map[Grade][]func(*Key){
		Exact:       {func(k *Key) {}, func(k *Key) { k.MemoryBytes += 1 << 20 }},
		OtherSize:   {func(k *Key) { k.Size = "1x1x1" }, func(k *Key) { k.StepsClass = "3" }},
		OtherDriver: {func(k *Key) { k.Driver = "590" }, func(k *Key) { k.Compiler = "NVRTC 14"; k.Size = "1x1x1" }},
		OtherDevice: {func(k *Key) { k.DeviceName = "x" }, func(k *Key) { k.ComputeCapability = "8.0"; k.Driver = "1" }, func(k *Key) { k.MemoryBytes /= 2 }},
		None:        {func(k *Key) { k.StencilHash = "x" }, func(k *Key) { k.DType = "float64" }, func(k *Key) { k.Boundary = "x" }, func(k *Key) { k.Regime = "cold" }, func(k *Key) { k.Kind = machine.Replay }, func(k *Key) { k.Objective = timing.ForEnergy }},
	} {
		for i, change := range changes {
			other := k
			change(&other)
			if got := k.Match(other); got != want {
				t.Errorf("%v, change %d: %v", want, i, got)
			}
			if other.Match(k) != want {
				t.Errorf("%v, change %d: not the same both ways", want, i)
			}
		}
	}
}

func TestGradeText(t *testing.T) {
	for g := Exact; g <= None; g++ {
		b, err := g.MarshalText()
		var h Grade
		if err != nil || h.UnmarshalText(b) != nil || h != g || string(b) != g.String() {
			t.Errorf("%v: %s, %v", g, b, err)
		}
	}
	if _, err := Grade(9).MarshalText(); err == nil || Grade(9).String() != "Grade(9)" {
		t.Error("a grade that is none was written")
	}
	if new(Grade).UnmarshalText([]byte("perfect")) == nil {
		t.Error("a grade that is none was read")
	}
}

func TestNearerIsAnOrder(t *testing.T) {
	key := rapid.Custom(func(t *rapid.T) Key {
		k := testKey(0)
		k.Size = rapid.SampledFrom([]string{"64x64", "128x64", "64x64x64", "x", "0x1", "512x512x512"}).Draw(t, "size")
		k.StepsClass = rapid.SampledFrom([]string{"1", "many"}).Draw(t, "steps")
		k.Driver = rapid.SampledFrom([]string{"", "550", "580", "NaN", "inf"}).Draw(t, "driver")
		k.ComputeCapability = rapid.SampledFrom([]string{"", "8.0", "9.0"}).Draw(t, "cc")
		k.MemoryBytes = rapid.SampledFrom([]int64{0, 80 << 30, 140 << 30}).Draw(t, "memory")
		return k
	})
	rapid.Check(t, func(t *rapid.T) {
		k, a, b, c := key.Draw(t, "k"), key.Draw(t, "a"), key.Draw(t, "b"), key.Draw(t, "c")
		if k.Nearer(a, b) != -k.Nearer(b, a) {
			t.Fatal("not antisymmetric")
		}
		if k.Nearer(a, b) <= 0 && k.Nearer(b, c) <= 0 && k.Nearer(a, c) > 0 {
			t.Fatal("not transitive")
		}
		if k.Nearer(k, a) > 0 {
			t.Fatal("something is nearer than the key itself")
		}
	})
}

func TestSizeDistance(t *testing.T) {
	// Nearest first: the same, a little more volume, another aspect, much more volume.
	sizes := []string{"256x256x256", "256x256x320", "512x256x128", "1024x1024x1024", "256x256", "0x0x0"}
	if !slices.IsSortedFunc(sizes, func(a, b string) int {
		return cmp.Compare(sizeDistance(sizes[0], a), sizeDistance(sizes[0], b))
	}) {
		t.Error("wrong order")
	}
}
