// Package carry takes a recording over to today's sources.
//
// A recording names each schedule's source by its SHA-256. Where a source has changed in its
// words alone, its machine code is the same and so are its times: the record is as good as a
// new one, and gets the new name. Nothing is measured here, and no record is invented.
package carry

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"stenciltune/device"
	"stenciltune/device/replay"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Source prints a schedule's source as an earlier revision writes it. What it prints besides,
// before or after the source, is left out when the hash tells the source's bounds.
// It is called from several goroutines at once.
type Source func(ctx context.Context, p stencil.Problem, s space.Schedule) (string, error)

// Compile gives a kernel's image. It is called from several goroutines at once.
type Compile func(ctx context.Context, k kernels.Kernel) ([]byte, error)

// Program is the Source of an earlier revision, by the path of its `tune`.
func Program(path string) Source {
	return func(ctx context.Context, p stencil.Problem, s space.Schedule) (string, error) {
		c := exec.CommandContext(ctx, path, "source", "--stencil", p.Stencil.Name, "--dtype", string(p.DType),
			"--size", p.Size.Text(p.Stencil.Dims), "--schedule", s.String())
		var complaint strings.Builder
		c.Stderr = &complaint
		out, err := c.Output()
		if err != nil {
			return "", fmt.Errorf("%s source %s: %w: %.200s", path, s, err, complaint.String())
		}
		return string(out), nil
	}
}

// Compiler is a device's compiler for a machine.
func Compiler(c device.Compiler, m machine.Machine) Compile {
	return func(ctx context.Context, k kernels.Kernel) ([]byte, error) {
		b, err := c.Compile(ctx, k, m)
		return b.Image, err
	}
}

// Report counts records, by what became of them. All but Text and Code keep their hash.
type Report struct {
	Records   int // in all
	Unnamed   int // that name no source: they were rejected before there was one
	Today     int // whose source is today's already
	Text      int // carried: the texts differ in comments, #line and blanks alone
	Code      int // carried: both texts compile to the same machine code
	Different int // whose code is another
	Unproved  int // whose old source could not be had or compiled, or is not the one recorded
	Sources   int // distinct pairs of an old source and today's that were compared
	Compiled  int // of them by their images
	// Why says of some of the unproved what went wrong.
	Why []string
}

// Carried is the records that have a new hash.
func (r Report) Carried() int { return r.Text + r.Code }

func (r Report) String() string {
	return fmt.Sprintf("%d records: %d carried (%d same text, %d same code), %d of today's source, %d of other code, %d unproved, %d without a source; %d sources compared, %d compiled",
		r.Records, r.Carried(), r.Text, r.Code, r.Today, r.Different, r.Unproved, r.Unnamed, r.Sources, r.Compiled)
}

// kind is what became of a source.
type kind int

const (
	unproved kind = iota
	sameText
	sameCode
	different
)

// verdict is the kind of comparing a pair, and why it is unproved.
type verdict struct {
	kind
	compiled bool
	why      error
}

// pair is a recorded source and today's, by their hashes.
type pair struct{ was, is string }

// mostReasons is how many reasons a report holds.
const mostReasons = 5

// Landscape gives every record whose schedule has the same machine code today as it had the
// hash of today's source. Each pair of sources is compared once: their texts, and if those
// differ their images. An error means that the recording is of no problem of today; l is as
// it was then, or when ctx is done.
func Landscape(ctx context.Context, l *replay.Landscape, old Source, compile Compile) (Report, error) {
	r := Report{Records: len(l.Order)}
	p, err := l.Problem()
	if err != nil {
		return r, err
	}
	if p.Stencil == nil {
		return r, fmt.Errorf("the recording of %s is of another tuner: it has no sources", l.Header.Stencil)
	}
	families := all.Families()
	of := map[space.Schedule]pair{}
	first := map[pair]space.Schedule{} // that shows a pair
	var shown []space.Schedule
	for _, s := range l.Order {
		was := l.Records[s].SourceHash
		f := kernels.Find(families, s.Family())
		if was == "" || f == nil {
			r.Unnamed++
			continue
		}
		at := pair{was, f.Kernel(p, s).SourceHash()}
		if at.was == at.is {
			r.Today++
			continue
		}
		of[s] = at
		if _, known := first[at]; !known {
			first[at] = s
			shown = append(shown, s)
		}
	}
	r.Sources = len(shown)
	verdicts := map[pair]verdict{}
	for i, v := range space.Each(shown, func(s space.Schedule) verdict {
		return compare(ctx, p, kernels.Find(families, s.Family()).Kernel(p, s), of[s].was, old, compile)
	}) {
		verdicts[of[shown[i]]] = v
		if v.compiled {
			r.Compiled++
		}
		if v.why != nil && len(r.Why) < mostReasons {
			r.Why = append(r.Why, fmt.Sprintf("%s: %v", shown[i], v.why))
		}
	}
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	for s, at := range of {
		switch verdicts[at].kind {
		case sameText:
			r.Text++
		case sameCode:
			r.Code++
		case different:
			r.Different++
			continue
		default:
			r.Unproved++
			continue
		}
		record := l.Records[s]
		record.SourceHash = at.is
		l.Records[s] = record
	}
	return r, nil
}

// compare finds whether today's kernel has the code of the recorded source.
func compare(ctx context.Context, p stencil.Problem, k kernels.Kernel, was string, old Source, compile Compile) verdict {
	printed, err := old(ctx, p, k.Schedule)
	if err != nil {
		return verdict{why: err}
	}
	text, ok := recorded(printed, was)
	if !ok {
		return verdict{why: fmt.Errorf("what is printed is not the source that was recorded, %.12s", was)}
	}
	if strip(text) == strip(k.Source) {
		return verdict{kind: sameText}
	}
	before := k
	before.Source = text
	if m := entry.FindStringSubmatch(text); m != nil {
		before.Entry = m[1]
	}
	v := verdict{kind: different, compiled: true}
	a, err := compile(ctx, before)
	if err != nil {
		return verdict{compiled: true, why: fmt.Errorf("the old source: %w", err)}
	}
	b, err := compile(ctx, k)
	if err != nil {
		return verdict{compiled: true, why: fmt.Errorf("today's source: %w", err)}
	}
	if sameMachineCode(a, b) {
		v.kind = sameCode
	}
	return v
}

// sameMachineCode tells whether two images run the same instructions: CUBINs differ in their tables
// of symbols where constants of the source have other names. Whatever is no ELF file must be the same
// to the byte.
func sameMachineCode(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, err := sections(a)
	if err != nil {
		return false
	}
	y, err := sections(b)
	return err == nil && maps.EqualFunc(x, y, bytes.Equal)
}

// elfVersion is the byte of e_version, which in a CUBIN is CUDA's version instead of ELF's.
const elfVersion = 20

// sections are an ELF file's by name, without those that only name things.
func sections(image []byte) (map[string][]byte, error) {
	if len(image) > elfVersion {
		image = slices.Clone(image)
		image[elfVersion] = byte(elf.EV_CURRENT)
	}
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return nil, err
	}
	list := map[string][]byte{}
	for _, s := range f.Sections {
		var data []byte
		switch s.Type {
		case elf.SHT_SYMTAB, elf.SHT_STRTAB, elf.SHT_NULL:
			continue
		case elf.SHT_NOBITS: // room, whose size is all there is
			data = fmt.Append(nil, s.Size)
		default:
			if data, err = s.Data(); err != nil {
				return nil, err
			}
		}
		if _, twice := list[s.Name]; twice {
			return nil, fmt.Errorf("two sections %s", s.Name)
		}
		list[s.Name] = data
	}
	return list, nil
}

// entry finds the name of a source's first kernel.
var entry = regexp.MustCompile(`(?m)^#define ENTRY (\w+)$`)

// recorded is the part of what was printed that has the hash: all of it, or without a last
// line, or without the first lines, which say how a kernel is launched.
func recorded(printed, hash string) (string, bool) {
	is := func(text string) bool {
		h := sha256.Sum256([]byte(text))
		return hex.EncodeToString(h[:]) == hash
	}
	if is(printed) {
		return printed, true
	}
	if i := strings.LastIndexByte(strings.TrimSuffix(printed, "\n"), '\n'); i >= 0 && is(printed[:i+1]) {
		return printed[:i+1], true
	}
	text := printed
	for range 3 {
		_, text, _ = strings.Cut(text, "\n")
		if is(text) {
			return text, true
		}
	}
	return "", false
}

// token is what a source is made of: a comment, a text, or anything else.
var token = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|.`)

// strip is a source without comments, #line directives and blanks that mean nothing.
func strip(source string) string {
	bare := token.ReplaceAllStringFunc(source, func(t string) string {
		if strings.HasPrefix(t, "//") || strings.HasPrefix(t, "/*") {
			return " "
		}
		return t
	})
	var b strings.Builder
	for line := range strings.Lines(bare) {
		if line = strings.Join(strings.Fields(line), " "); line != "" && !strings.HasPrefix(line, "#line ") {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
