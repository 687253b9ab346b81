package carry

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"stenciltune/device/replay"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
	"stenciltune/timing"
)

func hash(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

// earlier is a revision that wrote other sources, by what it did to today's.
type earlier map[space.Schedule]func(source string) string

func (e earlier) source(p stencil.Problem, s space.Schedule) string {
	text := kernels.Find(all.Families(), s.Family()).Kernel(p, s).Source
	if f := e[s]; f != nil {
		return f(text)
	}
	return text
}

func recording(t *testing.T, e earlier, texts ...string) (*replay.Landscape, stencil.Problem) {
	t.Helper()
	st := stenciltest.Lookup(t, "jacobi2d")
	p := stencil.Problem{Stencil: st, DType: stencil.Float32, Size: stencil.Size{4096, 4096, 1}, Steps: 100}
	l := &replay.Landscape{
		Header:  replay.Header{Stencil: st.Name, StencilHash: st.Hash, DType: p.DType, Size: p.Size, Steps: p.Steps},
		Records: map[space.Schedule]outcome.Outcome{},
	}
	for _, s := range spacetest.Schedules(t, texts...) {
		l.Order = append(l.Order, s)
		l.Records[s] = outcome.Outcome{Schedule: s, SourceHash: hash(e.source(p, s)), Status: timing.OK}.Sampled([]float64{1e-3}, 1)
	}
	return l, p
}

// bytesOf is a compiler to which a name makes no difference, nor does a comment.
func bytesOf(compiled *sync.Map) Compile {
	return func(_ context.Context, k kernels.Kernel) ([]byte, error) {
		compiled.Store(hash(k.Source), true)
		if strings.Contains(k.Source, "no such thing") {
			return nil, errors.New("error: no such thing")
		}
		return []byte(k.Entry + strip(strings.ReplaceAll(k.Source, "before_it_was_renamed", "ceil_div"))), nil
	}
}

func TestRecordsOfTheSameCodeGetTodaysHash(t *testing.T) {
	const global = "global/gx=64/gy=4/gz=1/wx=1/wy=%d/wz=1/cw=0/zz=0/sp=0"
	const stream = "stream/vx=4/vy=1/wp=4/ck=%d/pf=2/mb=1/ph=4"
	var texts []string
	for _, n := range []int{1, 2, 4, 8} {
		texts = append(texts, fmt.Sprintf(global, n))
	}
	texts = append(texts, fmt.Sprintf(stream, 2), fmt.Sprintf(stream, 4), "tile/gx=64/gy=4/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/ph=1", "tile/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1")
	s := spacetest.Schedules(t, texts...)
	words := func(text string) string {
		return "#line 7 \"elsewhere.cu\"\n" + strings.ReplaceAll(text, "// ", "  // in other words: ") + "\n\n"
	}
	names := func(text string) string { return strings.ReplaceAll(text, "ceil_div", "before_it_was_renamed") }
	was := earlier{
		s[1]: words,
		s[2]: func(text string) string { return strings.ReplaceAll(text, "int", "unsigned") },
		s[3]: func(text string) string { return text + "no such thing\n" },
		s[4]: names, s[5]: names, // of one source
		s[6]: words, // but it was recorded of another
	}
	l, p := recording(t, was, texts...)
	odd := l.Records[s[6]]
	odd.SourceHash = strings.Repeat("ab", 32)
	l.Records[s[6]] = odd
	none := l.Records[s[7]]
	none.SourceHash = ""
	l.Records[s[7]] = none
	before := map[space.Schedule]string{}
	for s, r := range l.Records {
		before[s] = r.SourceHash
	}
	var compiled sync.Map
	old := func(_ context.Context, p stencil.Problem, s space.Schedule) (string, error) {
		return was.source(p, s) + "// launch: as it may be\n", nil
	}
	r, err := Landscape(t.Context(), l, old, bytesOf(&compiled))
	if err != nil {
		t.Fatal(err)
	}
	if want := (Report{Records: 8, Unnamed: 1, Today: 1, Text: 1, Code: 2, Different: 1, Unproved: 2, Sources: 5, Compiled: 3, Why: r.Why}); fmt.Sprint(r) != fmt.Sprint(want) || len(r.Why) != 2 {
		t.Errorf("%v, %q\nwant %v", r, r.Why, want)
	}
	for i, s := range s {
		want := before[s]
		if i == 1 || i == 4 || i == 5 {
			want = kernels.Find(all.Families(), s.Family()).Kernel(p, s).SourceHash()
		}
		if got := l.Records[s]; got.SourceHash != want || len(got.Series.Samples) != 1 {
			t.Errorf("%s has %+v, want the hash %s", s, got, want)
		}
	}
	n := 0
	compiled.Range(func(any, any) bool { n++; return true })
	if n != 5 { // that which fails is not compared
		t.Errorf("%d sources were compiled", n)
	}
}

func TestAnEarlierProgramIsAsked(t *testing.T) {
	p := stencil.Problem{Stencil: stenciltest.Lookup(t, "jacobi2d"), DType: stencil.Float64, Size: stencil.Size{30, 20, 1}}
	s := spacetest.Schedule(t, "global/gx=64")
	program := filepath.Join(t.TempDir(), "tune")
	for _, c := range []struct{ script, out, err string }{
		{`echo "$@"`, "source --stencil jacobi2d --dtype float64 --size 30x20 --schedule global/gx=64\n", ""},
		{`echo "no such schedule" >&2; exit 2`, "", "no such schedule"},
	} {
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+c.script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		got, err := Program(program)(t.Context(), p, s)
		if got != c.out || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v", c.script, got, err)
		}
	}
}

// An ELF file of one section of code and a table of names, as a CUBIN is: 64 bits, little-endian.
func image(t *testing.T, code, name string) []byte {
	t.Helper()
	names := "\x00.text\x00.strtab\x00" + name + "\x00"
	header := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: 190, Version: 118, Ehsize: 64, Shentsize: 64, Shnum: 3, Shstrndx: 2}
	copy(header.Ident[:], "\x7fELF\x02\x01\x01")
	header.Shoff = uint64(64 + len(code) + len(names))
	var b bytes.Buffer
	for _, part := range []any{
		header, []byte(code), []byte(names), elf.Section64{},
		elf.Section64{Name: 1, Type: uint32(elf.SHT_PROGBITS), Off: 64, Size: uint64(len(code))},
		elf.Section64{Name: 7, Type: uint32(elf.SHT_STRTAB), Off: uint64(64 + len(code)), Size: uint64(len(names))},
	} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func TestImagesAreComparedWithoutTheNamesOfConstants(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b []byte
		same bool
	}{
		{"same", image(t, "code", "WALK"), image(t, "code", "WALK"), true},
		{"another name", image(t, "code", "WALK"), image(t, "code", "STREAMING"), true},
		{"other code", image(t, "code", "WALK"), image(t, "edoc", "WALK"), false},
		{"no ELF file", []byte("// PTX"), []byte("// ptx"), false},
		{"one of them", image(t, "code", "WALK"), []byte("// ptx"), false},
	} {
		if got := sameMachineCode(c.a, c.b); got != c.same {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

func TestARecordedSourceIsFoundInWhatIsPrinted(t *testing.T) {
	const source = "// a\nint b;\n"
	for _, printed := range []string{source, source + "// launch\n", "// s\n// launch\n#line 1 \"x\"\n" + source} {
		if got, ok := recorded(printed, hash(source)); !ok || got != source {
			t.Errorf("%q: %q", printed, got)
		}
	}
	if got, ok := recorded("int c;\n", hash(source)); ok {
		t.Errorf("found %q", got)
	}
}

func TestStripLeavesWhatIsCompiled(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"int a; // b\n\n  int  c;\n", "int a;\nint c;\n"},
		{"#line 3 \"x.cu\"\n#define A 1\n", "#define A 1\n"},
		{"a/* b\n c */d\n", "a d\n"},
		{`s = "// no /* comment";` + "\n", `s = "// no /* comment";` + "\n"},
	} {
		if got := strip(c.source); got != c.want {
			t.Errorf("%q: %q", c.source, got)
		}
	}
}

func TestARecordingOfNoProblemIsLeftAlone(t *testing.T) {
	l, _ := recording(t, nil, "global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0")
	l.Header.StencilHash = "of another day"
	if _, err := Landscape(t.Context(), l, nil, nil); err == nil {
		t.Error("carried")
	}
	l.Header.StencilHash = ""
	if _, err := Landscape(t.Context(), l, nil, nil); err == nil {
		t.Error("carried")
	}
}
