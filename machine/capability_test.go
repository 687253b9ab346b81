package machine

import "testing"

func TestLimitsFollowFromTheCapability(t *testing.T) {
	h := Machine{ComputeCapability: "9.0", MaxThreadsSM: 77}.WithLimits()
	if h.SharedBlockOptin != 227<<10 || h.MaxThreadsSM != 77 || h.MaxGridDim != [3]int{1<<31 - 1, 65535, 65535} || h.SharedReserved != 1<<10 {
		t.Errorf("%+v", h)
	}
	if a := (Machine{ComputeCapability: "8.9"}).WithLimits(); a.MaxThreadsSM != 1536 || a.SharedSM != 100<<10 {
		t.Errorf("%+v", a)
	}
	if b := (Machine{ComputeCapability: "10.0"}).WithLimits(); b.SharedReserved != 1<<10 {
		t.Errorf("%+v", b)
	}
	if l := h.Limits(); l != nil {
		t.Errorf("the table has 9.0: %+v", l)
	}
	if u := (Machine{ComputeCapability: "99.0"}).WithLimits(); u.SharedBlockOptin != 64<<10 || u.RegistersSM != 65536 {
		t.Errorf("%+v", u)
	}
}

// Of a compute capability that no table has the driver's word counts, also after it went
// through a config.
func TestUnknownCapabilitiesAreWhatTheDriverSays(t *testing.T) {
	driver := Machine{Kind: CUDA, ComputeCapability: "99.0", MaxThreadsSM: 3072, MaxBlocksSM: 48, SharedBlockOptin: 400 << 10, SharedSM: 401 << 10,
		SharedReserved: 1 << 10, SingleToDouble: 4}
	again := Machine{Kind: CUDA, ComputeCapability: "99.0"}.With(driver.Limits()).WithLimits()
	for name, m := range map[string]Machine{"live": driver.WithLimits(), "of a config": again} {
		if single, double := m.Lanes(); m.SharedBlockOptin != 400<<10 || m.MaxThreadsSM != 3072 || m.MaxBlocksSM != 48 || single != 128 || double != 32 || m.CacheSM() != 429<<10 {
			t.Errorf("%s: %+v, lanes %d and %d", name, m, single, double)
		}
	}
}

// Datasheets' float64 rates in flops: of each a lane does two a clock.
func TestFloat64LanesGiveTheDatasheetsRates(t *testing.T) {
	for id, want := range map[string]float64{"v100": 7.8e12, "a100": 9.7e12, "h200": 34e12, "rtx3090": 0.56e12, "rtx4090": 1.29e12, "l40s": 1.43e12, "gh200": 34e12, "b300": 1.2e12} {
		k, err := FindKnown(id)
		if err != nil {
			t.Fatal(err)
		}
		_, double := k.Machine.Lanes()
		if f := 2 * float64(double) * float64(k.Machine.SMs) * k.Machine.ClockHz; f < 0.97*want || f > 1.03*want {
			t.Errorf("%s: %g flops, the datasheet says %g", id, f, want)
		}
	}
	if _, double := (Machine{ComputeCapability: "10.3"}).Lanes(); double != 2 {
		t.Errorf("a B300 has 2 lanes of float64, not %d", double)
	}
}
