package host_test

import (
	"flag"
	"regexp"
	"testing"

	"stenciltune/device/devicetest"
	"stenciltune/device/host"
)

var (
	flagCorpus    = flag.String("corpus", "", "not every forty-eighth wrong kernel, but those whose `name` matches, \"family, stencil: what\"")
	flagProofSeed = flag.Uint64("proof-seed", 1, "seed of the proofs that are to find them")
)

// Whatever is wrong with a kernel, a proof of `tune verify` finds it.
func TestWrongKernelsAreCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles many kernels")
	}
	d := open(t, host.Options{})
	name, err := regexp.Compile(*flagCorpus)
	if err != nil {
		t.Fatal(err)
	}
	var some []devicetest.Mutation
	for i, m := range devicetest.Mutations() {
		if m.Unseen == "" && (*flagCorpus == "" && i%48 == 0 || *flagCorpus != "" && name.MatchString(m.String())) {
			some = append(some, m)
		}
	}
	devicetest.CheckCorpus(t, d, some, *flagProofSeed)
}

// A text that changes takes its wrong kernels with it: of those only every forty-eighth is run each time.
func TestEveryWrongKernelHasItsText(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many cases")
	}
	devicetest.CheckTexts(t, open(t, host.Options{}).Machine())
}
