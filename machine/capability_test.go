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
	if u := (Machine{ComputeCapability: "99.0"}).WithLimits(); u.SharedBlockOptin != 64<<10 || u.RegistersSM != 65536 {
		t.Errorf("%+v", u)
	}
}
