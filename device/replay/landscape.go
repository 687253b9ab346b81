// Package replay answers from recorded landscapes: measurements of (nearly) every
// schedule of a space on a real device, with their raw samples.
//
// It never invents: a schedule that was not recorded is refused. Recordings ship
// in the binary; `tune --exhaustive --record FILE` makes new ones.
package replay

import (
	"bufio"
	"compress/gzip"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"stenciltune/device"
	"stenciltune/machine"
	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// Format is the first field of a landscape's header.
const Format = "stenciltune.landscape/v1"

// Header says what was recorded, on what and how.
type Header struct {
	Format      string          `json:"format"`
	Stencil     string          `json:"stencil"`
	StencilHash string          `json:"stencil_hash"`
	DType       stencil.DType   `json:"dtype"`
	Size        stencil.Size    `json:"size"`
	Steps       int             `json:"steps"`
	Machine     machine.Machine `json:"machine"`
	Regime      timing.Regime   `json:"regime"`
	Tool        string          `json:"tool"`
	Command     string          `json:"command"`
	Time        string          `json:"time"`
	Space       int             `json:"space"`               // legal schedules when it was recorded
	Compilers   int             `json:"compilers,omitempty"` // compilations at once
}

// line is an outcome as a landscape's file has it. Its samples stand alone: what they come
// to follows from them and the schedule.
type line struct {
	Schedule       space.Schedule `json:"schedule"`
	SourceHash     string         `json:"source_hash,omitempty"`
	Status         timing.Status  `json:"status"`
	Reason         string         `json:"reason,omitempty"`
	Registers      int            `json:"registers,omitempty"`
	SpillBytes     int            `json:"spill_bytes,omitempty"`
	BlocksPerSM    int            `json:"blocks_per_sm,omitempty"`
	CompileSeconds float64        `json:"compile_seconds,omitempty"`
	DeviceSeconds  float64        `json:"device_seconds,omitempty"` // of checking and timing it, all told
	MaxError       outcome.Float  `json:"max_error,omitempty"`
	Launches       int            `json:"launches,omitempty"` // in a sample
	Samples        []float64      `json:"samples,omitempty"`
}

// lineOf rounds an outcome to what timers resolve.
func lineOf(o outcome.Outcome) line {
	l := line{o.Schedule, o.SourceHash, o.Status, o.Reason, o.Registers, o.SpillBytes, o.BlocksPerSM,
		timing.Digits(o.CompileSeconds, 3), timing.Digits(o.DeviceSeconds, 3), outcome.Float(timing.Digits(float64(o.MaxError), 3)), o.Series.Launches, slices.Clone(o.Series.Samples)}
	for i, s := range l.Samples {
		l.Samples[i] = timing.Digits(s, 6)
	}
	return l
}

// outcome is what a line says.
func (l line) outcome() outcome.Outcome {
	return outcome.Outcome{Schedule: l.Schedule, SourceHash: l.SourceHash, Status: l.Status, Reason: l.Reason,
		Registers: l.Registers, SpillBytes: l.SpillBytes, BlocksPerSM: l.BlocksPerSM,
		CompileSeconds: l.CompileSeconds, DeviceSeconds: l.DeviceSeconds, MaxError: l.MaxError}.Sampled(l.Samples, l.Launches)
}

// Landscape is a header and its records by schedule.
type Landscape struct {
	Header  Header
	Records map[space.Schedule]outcome.Outcome
	Order   []space.Schedule // as recorded
}

// Best is the recorded schedule with the lowest median.
func (l *Landscape) Best() (outcome.Outcome, float64) {
	var best outcome.Outcome
	low := 0.0
	for _, s := range l.Order {
		r := l.Records[s]
		if r.Status != timing.OK || len(r.Series.Samples) == 0 {
			continue
		}
		if m := timing.Summarise(r.Series.Samples).Median; best.Schedule.IsZero() || m < low {
			best, low = r, m
		}
	}
	return best, low
}

// Problem is what was recorded; without a stencil if another tuner recorded it. One whose
// stencil is not in the catalogue as it was has none.
func (l *Landscape) Problem() (stencil.Problem, error) {
	h := l.Header
	if h.StencilHash == "" {
		return stencil.Problem{Size: h.Size}, nil
	}
	st, err := stencil.Lookup(h.Stencil)
	if err != nil || st.Hash != h.StencilHash {
		return stencil.Problem{}, fmt.Errorf("the recording is of a stencil %s that is not in the catalogue as it was", h.Stencil)
	}
	return stencil.Problem{Stencil: st, DType: h.DType, Size: h.Size, Steps: h.Steps}, nil
}

// Write writes a landscape: gzip of one JSON document a line, the header first.
func Write(w io.Writer, h Header, records []outcome.Outcome) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	e := json.NewEncoder(z)
	h.Format = Format
	if err := e.Encode(h); err != nil {
		return err
	}
	for _, r := range records {
		if err := e.Encode(lineOf(r)); err != nil {
			return err
		}
	}
	return z.Close()
}

// ErrFormat is in the chain of the error of a file that is no landscape, or a damaged one.
var ErrFormat = errors.New("not a landscape")

// Limits of a landscape's file, so that one from anywhere takes no more memory than its size
// makes one expect.
const (
	maxLine  = 1 << 20 // bytes of a record: a thousand times what a tune writes
	maxRatio = 32      // of its text to its bytes: recordings shrink to a fifth
	freeText = 1 << 20 // bytes of text to which the ratio does not apply
)

// counter counts what is read.
type counter struct {
	r io.Reader
	n int
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

// Read reads a landscape. A file that is not one, or damaged, is an ErrFormat.
func Read(r io.Reader) (*Landscape, error) {
	file := &counter{r: r}
	z, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("%w (gzip): %w", ErrFormat, err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, maxLine)
	l := &Landscape{Records: map[space.Schedule]outcome.Outcome{}}
	for n, text := 0, 0; lines.Scan(); n++ {
		if text += len(lines.Bytes()); text > freeText+maxRatio*file.n {
			return nil, fmt.Errorf("%w: its text is more than %d times its size", ErrFormat, maxRatio)
		}
		if n == 0 {
			err = l.header(lines.Bytes())
		} else if err = l.record(lines.Bytes()); err != nil {
			err = fmt.Errorf("record %d: %w", n, err)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrFormat, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%w: after record %d: %w", ErrFormat, len(l.Order), err)
	}
	if l.Header.Format == "" {
		return nil, fmt.Errorf("%w: it has no header", ErrFormat)
	}
	return l, nil
}

// header reads the first line.
func (l *Landscape) header(text []byte) error {
	if err := json.Unmarshal(text, &l.Header); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	if l.Header.Format != Format {
		return fmt.Errorf("it has the format %.100q, want %q", l.Header.Format, Format)
	}
	return nil
}

// record reads any other line.
func (l *Landscape) record(text []byte) error {
	var rec line
	if err := json.Unmarshal(text, &rec); err != nil {
		return err
	}
	return l.Add(rec.outcome())
}

// Add appends a record, refusing what no device can have measured.
func (l *Landscape) Add(r outcome.Outcome) error {
	if r.Schedule.IsZero() {
		return errors.New("it has no schedule")
	}
	if _, twice := l.Records[r.Schedule]; twice {
		return fmt.Errorf("%s is recorded twice", r.Schedule)
	}
	for _, s := range r.Series.Samples {
		if !timing.Plausible(s) {
			return fmt.Errorf("%s: %g s is not a time", r.Schedule, s)
		}
	}
	for _, s := range []float64{r.CompileSeconds, r.DeviceSeconds} {
		if s != 0 && !timing.Plausible(s) {
			return fmt.Errorf("%s: %g s is not a time", r.Schedule, s)
		}
	}
	l.Records[r.Schedule] = r
	l.Order = append(l.Order, r.Schedule)
	return nil
}

//go:embed landscapes
var shipped embed.FS

// Names lists the shipped recordings' files.
func Names() []string {
	files, err := fs.Glob(shipped, "landscapes/*.jsonl.gz")
	if err != nil {
		panic("replay: " + err.Error())
	}
	for i, f := range files {
		files[i] = path.Base(f)
	}
	return files
}

// Find opens the landscape for a problem: name is a device ("h200", matched
// against the recorded device's name) or the path of a file. A missing one is a
// device.ErrMissing that lists what there is.
func Find(name string, p stencil.Problem) (*Landscape, error) {
	if strings.ContainsAny(name, "/.") {
		l, err := open(openFile, name)
		if err != nil {
			return nil, err
		}
		return l, l.fits(p)
	}
	for _, file := range Names() {
		recorded, ok := strings.CutSuffix(file, suffix(p))
		if !ok || name == "" || !strings.Contains(recorded, name) {
			continue
		}
		l, err := open(shipped.Open, "landscapes/"+file)
		if err != nil {
			return nil, err
		}
		return l, l.fits(p)
	}
	return nil, missing(fmt.Sprintf("%s on %q", p.Text(), name))
}

// Match opens the landscape in a file, or every shipped one whose file name
// contains name. Finding none is a device.ErrMissing.
func Match(name string) ([]*Landscape, error) {
	if strings.ContainsAny(name, "/.") {
		l, err := open(openFile, name)
		return []*Landscape{l}, err
	}
	var list []*Landscape
	for _, file := range Names() {
		if strings.Contains(file, name) {
			l, err := open(shipped.Open, "landscapes/"+file)
			if err != nil {
				return nil, err
			}
			list = append(list, l)
		}
	}
	if len(list) == 0 {
		return nil, missing(name)
	}
	return list, nil
}

// openFile opens a file, and no pipe: nobody may ever write into that.
func openFile(name string) (*os.File, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: it is not a file", ErrFormat)
	}
	return os.Open(name)
}

func open[F io.ReadCloser](open func(string) (F, error), name string) (*Landscape, error) {
	f, err := open(name)
	switch {
	case errors.Is(err, ErrFormat):
		return nil, fmt.Errorf("%s: %w", name, err)
	case err != nil:
		return nil, fmt.Errorf("%w: landscape: %w", device.ErrMissing, err)
	}
	defer f.Close()
	l, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return l, nil
}

// missing says which recordings there are.
func missing(what string) error {
	var have []string
	for _, n := range Names() {
		have = append(have, strings.TrimSuffix(n, ".jsonl.gz"))
	}
	return fmt.Errorf("%w: no recording of %s; --device host runs any stencil on this machine's processor; recordings there are: %s", device.ErrMissing, what, strings.Join(have, ", "))
}

// suffix is the end of a recording's name: "_jacobi3d_f32_512x512x512.jsonl.gz".
func suffix(p stencil.Problem) string {
	return "_" + strings.ReplaceAll(p.Text(), "/", "_") + ".jsonl.gz"
}

// fits tells why a recording is not of this problem, or nil.
func (l *Landscape) fits(p stencil.Problem) error {
	h := l.Header
	switch {
	case h.StencilHash != p.Hash():
		return fmt.Errorf("%w: the recording is of another stencil (%s); record this one with tune --exhaustive --record", device.ErrMissing, h.Stencil)
	case h.DType != p.DType || h.Size != p.Size:
		return fmt.Errorf("%w: the recording is of %s %s, not of %s", device.ErrMissing, h.DType, h.Size.Text(p.Stencil.Dims), p.Text())
	}
	return nil
}

// Within is the part of a space that was recorded: the same families and
// parameters, with the values and combinations that occur.
func (l *Landscape) Within(sp *space.Space) *space.Space {
	var families []*space.Family
	for _, f := range sp.Families() {
		used := make([]map[int]bool, len(f.Params))
		for i := range used {
			used[i] = map[int]bool{}
		}
		var points [][]int
		for _, s := range l.Order {
			if s.Family() != f.Name {
				continue
			}
			v, err := f.Values(s)
			if err != nil {
				continue // of another version of the family
			}
			points = append(points, v)
			for i, x := range v {
				used[i][x] = true
			}
		}
		if points == nil {
			continue
		}
		slices.SortFunc(points, slices.Compare) // the order of enumeration: values ascend
		g := &space.Family{Name: f.Name, Constraints: slices.Clone(f.Constraints), Advice: f.Advice}
		var names []string
		for i, p := range f.Params {
			p.Values = slices.DeleteFunc(slices.Clone(p.Values), func(x int) bool {
				return !used[i][x] && !(p.Optional && x == f.Params[i].Values[0])
			})
			g.Params = append(g.Params, p)
			names = append(names, p.Name)
		}
		g.Points = slices.DeleteFunc(points, func(v []int) bool { // a value of another version of the family
			for i, x := range v {
				if !slices.Contains(g.Params[i].Values, x) {
					return true
				}
			}
			return false
		})
		g.Constraints = append(g.Constraints, space.Constraint{
			Name: "recorded", Needs: names, Why: "the recording does not hold it",
			OK: func(v space.Values) bool {
				at := make([]int, len(names))
				for i, n := range names {
					at[i] = v.Get(n)
				}
				r, ok := l.Records[space.Make(g.Name, g.Params, at)]
				// Another tuner's rejections are its constraints; ours come from the compiler.
				return ok && (l.Header.StencilHash != "" || r.Status != timing.Rejected)
			},
		})
		families = append(families, g)
	}
	return space.New(families...)
}

// Space is the space that the recording itself spans: its families and parameters
// in order of appearance, the values that occur, and no combination that does not.
// It serves a landscape whose families this program does not have.
func (l *Landscape) Space() *space.Space {
	var families []*space.Family
	for _, s := range l.Order {
		i := slices.IndexFunc(families, func(f *space.Family) bool { return f.Name == s.Family() })
		if i < 0 {
			i = len(families)
			families = append(families, &space.Family{Name: s.Family()})
			for _, x := range s.Fields() {
				families[i].Params = append(families[i].Params, space.Param{Name: x.Name, Ordinal: true})
			}
		}
		for _, x := range s.Fields() {
			k := slices.IndexFunc(families[i].Params, func(p space.Param) bool { return p.Name == x.Name })
			if k >= 0 && !slices.Contains(families[i].Params[k].Values, x.Value) {
				families[i].Params[k].Values = append(families[i].Params[k].Values, x.Value)
			}
		}
	}
	for _, f := range families {
		for _, p := range f.Params {
			slices.Sort(p.Values)
		}
	}
	return l.Within(space.New(families...))
}
