package host_test

import (
	"flag"
	"math/rand/v2"
	"regexp"
	"testing"

	"stenciltune/device/devicetest"
	"stenciltune/device/host"
)

var (
	flagCorpus    = flag.String("corpus", "", "not some wrong kernels, but those whose `name` matches, \"family, stencil: what\"")
	flagPart      = flag.Int("corpus-part", -1, "which of the parts of the corpus; -1 = any")
	flagProofSeed = flag.Uint64("proof-seed", 1, "seed of the proofs that are to find them")
)

// parts is how many parts the corpus of wrong kernels has, of which a run of the tests takes one, of about four: many runs take
// them all.
const parts = 120

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
	part := *flagPart
	if part < 0 {
		part = rand.IntN(parts)
	}
	t.Logf("-corpus-part %d of %d", part, parts)
	var some []devicetest.Mutation
	for i, m := range devicetest.Mutations() {
		if m.Unseen == "" && (*flagCorpus == "" && i%parts == part%parts || *flagCorpus != "" && name.MatchString(m.String())) {
			some = append(some, m)
		}
	}
	devicetest.CheckCorpus(t, d, some, *flagProofSeed, "")
}

// A text that changes takes its wrong kernels with it: of those only some are run each time.
func TestEveryWrongKernelHasItsText(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many cases")
	}
	devicetest.CheckTexts(t, open(t, host.Options{}).Machine())
}
