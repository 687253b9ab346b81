package host_test

import (
	"flag"
	"testing"

	"stenciltune/device/devicetest"
	"stenciltune/device/host"
)

var (
	flagCorpus    = flag.Bool("corpus", false, "all wrong kernels, not every twenty-fourth")
	flagProofSeed = flag.Uint64("proof-seed", 1, "seed of the proofs that are to find them")
)

// Whatever is wrong with a kernel, a proof of `tune verify` finds it.
func TestWrongKernelsAreCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles many kernels")
	}
	d := open(t, host.Options{})
	each := 24
	if *flagCorpus {
		each = 1
	}
	var some []devicetest.Mutation
	for i, m := range devicetest.Mutations() {
		if m.Unseen == "" && i%each == 0 {
			some = append(some, m)
		}
	}
	devicetest.CheckCorpus(t, d, some, *flagProofSeed)
}
