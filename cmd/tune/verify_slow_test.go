package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"stenciltune/cmd/internal/cli"
	"stenciltune/device"
	"stenciltune/device/replay"
	"stenciltune/kernels"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
	"stenciltune/timing"
)

// slow is a device whose compiler ends in time for no kernel.
type slow struct{ device.Device }

func (slow) Compile(_ context.Context, k kernels.Kernel) (device.Binary, error) {
	return device.Binary{}, device.Fail(timing.CompileTimeout, "compile passed its deadline of 30s")
}

// A compiler that takes too long proves nothing against a kernel, and nothing for it.
func TestAKernelThatIsNotBuiltInTimeIsNotCalledWrong(t *testing.T) {
	st := stenciltest.Lookup(t, "jacobi2d")
	d, err := replay.Open("h200", stencil.Problem{Stencil: st, DType: st.DType, Size: st.DefaultSize(false), Steps: 1000})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var out, told bytes.Buffer
	a := &app{&cli.App{Name: "tune", Out: &out, Err: &told}}
	p := stencil.Problem{Stencil: st, DType: st.DType, Size: stencil.Size{64, 64, 1}, Steps: 4}
	proof, err := a.prove(t.Context(), slow{d}, "0", p, verifyFlags{cases: 4, seed: 1})
	if err != nil || proof.Wrong != "" || proof.Cases != 0 || len(proof.Unbuilt) != 4 || proof.Complete {
		t.Fatalf("%v, %+v", err, proof)
	}
	if !strings.Contains(told.String(), "was not tried: compile passed its deadline") {
		t.Error(told.String())
	}
	if err := a.printVerification(verification{Stencil: "jacobi2d", Devices: []deviceProof{proof}}); err != nil || !strings.Contains(out.String(), "nothing is proved") {
		t.Error(err, out.String())
	}
}
