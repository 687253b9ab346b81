package host

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"stenciltune/device/devicetest"
	"stenciltune/device/verify"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

var (
	flagProgramTime = flag.Duration("program-time", 5*time.Second, "compile mutated programs for so long")
	flagProgramSeed = flag.Uint64("program-seed", 20261121, "seed of the mutated programs")
)

// slToken splits a stencil file where the language does, comments and blanks included.
var slToken = regexp.MustCompile(`/\*[\s\S]*?\*/|(?://|#)[^\n]*|\s+|[A-Za-z_]\w*|[0-9.][\w.]*|[<>=!+\-*/&|]{1,2}|.`)

// nasty are tokens that generated code, C++ or CUDA could mistake for their own.
var nasty = strings.Fields(`px py pz nx ny nz v0 v1 T s_0 ro_0 read_0 get_0 out_0 out_1 value value_0 grid cell Cell old edge_0 in_0 length_0 iteration
	int float double unsigned int8 uint8 int16 uint16 int64 uint64 half bfloat16 char short long bool template class namespace asm main NULL INFINITY
	threadIdx warpSize min max abs fmin fmax fabs sqrt rsqrt cbrt exp exp2 log log2 log10 sin cos tan asin acos atan sinh cosh tanh pow atan2 fmod
	floor ceil trunc round read get x y z input_size . a b i k if else for return const ? : && || ! == != < <= > >= + - * / % ++ -- += -= *= /= %=
	( ) { } , ; 0 1 2 -1 0.5 1e308 1e-320 3.4e39 2147483647 2147483648 4294967295 9223372036854775807 18446744073709551615 127 128 255 256 -0.0 0.1f 1e400
	clamp mirror wrap fixed constant sum Fields ReadOnly Stages EdgeValue Reduce Until every Boundary DataType ScalarVariables InputRange Points`)

// programs grows a corpus of accepted stencil files by mutation.
type programs struct {
	r      *rand.Rand
	corpus []string
	seen   map[string]bool // hashes
	tried  int
}

// newPrograms begins with the textbook stencils and some random programs.
func newPrograms(t *testing.T) *programs {
	t.Helper()
	t.Logf("seed %d", *flagProgramSeed)
	p := &programs{r: rand.New(rand.NewPCG(*flagProgramSeed, 1)), seen: map[string]bool{}}
	for _, name := range stencil.Textbook() {
		st := stenciltest.Lookup(t, name)
		p.corpus = append(p.corpus, st.Text())
	}
	for range 20 {
		p.corpus = append(p.corpus, devicetest.RandomProgram(p.r))
	}
	return p
}

// next is a new accepted program.
func (p *programs) next() *stencil.Stencil {
	for {
		p.tried++
		text := p.corpus[p.r.IntN(len(p.corpus))]
		if p.r.IntN(10) == 0 {
			text = devicetest.RandomProgram(p.r)
		} else {
			text = p.mutate(text)
		}
		st, err := stencil.Parse("fuzz", "fuzz.sl", text)
		if err != nil || p.seen[st.Hash] {
			continue
		}
		p.seen[st.Hash] = true
		size := 0
		for i := range st.Stages {
			size += len(stencil.StageSource(st, i))
		}
		if size > 8<<10 { // an unrolled loop costs the compiler seconds and finds nothing new
			continue
		}
		p.corpus = append(p.corpus, text)
		return st
	}
}

// mutate changes a few tokens, or takes a run of them from another program.
func (p *programs) mutate(text string) string {
	t := slToken.FindAllString(text, -1)
	for range 1 + p.r.IntN(3) {
		if len(t) == 0 {
			break
		}
		i := p.r.IntN(len(t))
		switch p.r.IntN(5) {
		case 0:
			t = append(t[:i:i], t[i+1:]...)
		case 1:
			t[i] = nasty[p.r.IntN(len(nasty))]
		case 2:
			t = append(append(t[:i:i], nasty[p.r.IntN(len(nasty))]), t[i:]...)
		case 3:
			j := p.r.IntN(len(t))
			t[i], t[j] = t[j], t[i]
		case 4:
			from := slToken.FindAllString(p.corpus[p.r.IntN(len(p.corpus))], -1)
			begin := p.r.IntN(len(from))
			run := from[begin:min(len(from), begin+1+p.r.IntN(12))]
			t = append(append(t[:i:i], run...), t[min(len(t), i+p.r.IntN(2)*len(run)):]...)
		}
	}
	return strings.Join(t, "")
}

// Whatever the parser accepts, the text generated for it compiles: nothing of a
// stencil file may reach a compiler but through our own names.
func TestAcceptedProgramsCompile(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles many kernels")
	}
	d, err := Open(Options{})
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { d.Close() })
	if err := d.runtime(); err != nil {
		t.Fatal(err)
	}
	p := newPrograms(t)
	compiled, slowest := 0, time.Duration(0)
	for begin := time.Now(); time.Since(begin) < *flagProgramTime && !t.Failed(); {
		source := verify.NewSource(d.Machine(), all.Families())
		var ks []kernels.Kernel
		var texts []string
		for len(ks) < 20 {
			st := p.next()
			types := st.DTypes()
			problem := stencil.Problem{Stencil: st, DType: types[p.r.IntN(len(types))]}
			able, _ := source.Able(problem)
			if len(able) == 0 {
				continue
			}
			c := source.Draw(p.r, problem, able[p.r.IntN(len(able))])
			ks, texts = append(ks, c.Kernel), append(texts, st.Text())
		}
		start := time.Now()
		if log := syntax(t, d, ks); log != "" {
			for i := range ks { // which one is to blame
				if log := syntax(t, d, ks[i:i+1]); log != "" {
					t.Errorf("%s does not compile:\n%s\n%.3000s\n%s", ks[i].Schedule, texts[i], log, ks[i].Source)
				}
			}
			if !t.Failed() {
				t.Errorf("kernels that compile alone do not together:\n%.3000s", log)
			}
		}
		slowest = max(slowest, time.Since(start))
		compiled += len(ks)
	}
	t.Logf("%d programs tried, %d accepted and compiled; the slowest 20 took %v", p.tried, compiled, slowest.Round(time.Millisecond))
}

// Integers are exact: whatever an accepted program computes from them without a
// function of C's library, every bit of it is the reference's.
func TestAcceptedIntegerProgramsComputeWhatTheReferenceComputes(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles many kernels")
	}
	d, err := Open(Options{})
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { d.Close() })
	p := newPrograms(t)
	for begin := time.Now(); time.Since(begin) < *flagProgramTime && !t.Failed(); {
		source := verify.NewSource(d.Machine(), all.Families())
		var cases []verify.Case
		for len(cases) < 12 {
			st := p.next()
			if st.DType.Floating() || st.Ops.Special > 0 {
				continue
			}
			problem := stencil.Problem{Stencil: st, DType: st.DType}
			if able, _ := source.Able(problem); len(able) > 0 {
				cases = append(cases, source.Draw(p.r, problem, able[p.r.IntN(len(able))]))
			}
		}
		devicetest.Check(t, d, cases)
	}
}

// syntax checks kernels with the compiler and gives its messages, "" without fault.
func syntax(t *testing.T, d *Device, ks []kernels.Kernel) string {
	t.Helper()
	unit := d.temp("unit") + ".cpp"
	if err := os.WriteFile(unit, []byte(unitSource(ks, false)), 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(unit)
	ctx, cancel := context.WithTimeout(context.Background(), compileTimeout)
	defer cancel()
	log, err := d.cc(ctx, append(d.flags(forProof), "-fsyntax-only", filepath.Base(unit))...)
	if err == nil {
		return ""
	}
	return fmt.Sprintf("%v\n%s", err, log)
}
