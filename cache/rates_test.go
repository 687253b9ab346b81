package cache

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"stenciltune/machine"
)

func TestRatesAreKeptPerDeviceAndDriver(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) {
		s, err := Open(fresh().Path())
		if err != nil {
			t.Fatal(err)
		}
		m := machine.Machine{Kind: machine.CUDA, Name: "NVIDIA H200", UUID: "GPU-1", Driver: "580.159.04"}
		if _, ok, err := s.Rates(m); ok || err != nil { // no store yet
			t.Errorf("%v, %v", ok, err)
		}
		want := DeviceRates{Device: m.Name, Rates: machine.Rates{L2Bytes: 9.7e12, Launch: 2e-6}, CopyBytesPerSecond: 4.1e12, Seconds: 1.5, Time: time.Unix(1e9, 0).UTC()}
		if err := s.PutRates(m, want); err != nil {
			t.Fatal(err)
		}
		if got, ok, err := s.Rates(m); got != want || !ok || err != nil {
			t.Errorf("%+v, %v, %v", got, ok, err)
		}
		same, other, newer := m, m, m
		same.Driver, other.UUID, newer.Driver = "580.200", "GPU-2", "590.1"
		if _, ok, _ := s.Rates(same); !ok {
			t.Error("the same driver's next release lost them")
		}
		for _, o := range []machine.Machine{other, newer} {
			if _, ok, err := s.Rates(o); ok || err != nil {
				t.Errorf("%s, %s: %v, %v", o.UUID, o.Driver, ok, err)
			}
		}
		if _, err := s.Check(); err != nil { // and the rest of the store is as before
			t.Error(err)
		}
	})
}

func TestDamagedRatesAreNone(t *testing.T) {
	s := openTemp(t)
	m := machine.Machine{Kind: machine.CUDA, Name: "NVIDIA H200", UUID: "GPU-1", Driver: "580"}
	must(t, s.PutRates(m, DeviceRates{Device: m.Name, Time: time.Unix(1e9, 0).UTC()}))
	data, err := os.ReadFile(s.Path())
	must(t, err)
	must(t, os.WriteFile(s.Path(), bytes.ReplaceAll(data, []byte(`"device":"NVIDIA`), []byte(`"device":"nVIDIA`)), 0o600))
	if r, err := s.Check(); err != nil || r.Damaged != 1 || len(r.Places) != 1 || !strings.HasPrefix(r.Places[0], "rates kind=cuda") {
		t.Errorf("%+v %v", r, err)
	}
	if _, ok, err := s.Rates(m); ok || err != nil || s.Sound() {
		t.Errorf("%v, %v", ok, err)
	}
}
