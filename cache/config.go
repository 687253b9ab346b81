package cache

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"stenciltune/machine"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/timing"
)

// ConfigFormat is the format and version of the config documents written here.
// A version may gain fields at the top level; anything else needs a new version.
const ConfigFormat = "stenciltune.config/v1"

// Config is the answer to a problem on a device: the best schedule found, by time unless Objective says otherwise, how
// to launch it, what it reached, and how that is known. Its JSON form is the
// interface to other builds; config.schema.json describes it.
//
// Seconds, bytes and cells; every extent, grid and block is in the order x, y, z.
// A float that is not known is 0.
type Config struct {
	Format        string             `json:"format"` // ConfigFormat
	Tool          ToolInfo           `json:"tool"`
	Stencil       StencilInfo        `json:"stencil"`
	Problem       ProblemInfo        `json:"problem"`
	Scalars       map[string]float64 `json:"scalars,omitempty"` // of the stencil, as asked for
	Device        DeviceInfo         `json:"device"`
	Toolchain     ToolchainInfo      `json:"toolchain"`
	Schedule      ScheduleInfo       `json:"schedule"`
	Launch        LaunchInfo         `json:"launch"`
	Kernel        KernelInfo         `json:"kernel"`
	Remainder     *RemainderInfo     `json:"remainder"` // nil = the steps divide evenly
	Measured      MeasuredInfo       `json:"measured"`
	Baseline      *BaselineInfo      `json:"baseline"`       // nil = not measured
	Speedup       float64            `json:"speedup"`        // baseline's seconds over measured seconds
	RooflineShare float64            `json:"roofline_share"` // measured bytes per second over the copy's
	Ties          []Tie              `json:"ties"`           // schedules that cannot be told apart from the best
	Verification  VerificationInfo   `json:"verification"`
	Search        SearchInfo         `json:"search"`
	Match         MatchInfo          `json:"match"`
	Expected      *ExpectedInfo      `json:"expected,omitempty"`  // nil = measured on this very problem
	Finals        []FinalInfo        `json:"finals,omitempty"`    // all that the last, interleaved round timed, the fastest first
	Within        *WithinInfo        `json:"within,omitempty"`    // nil = nobody knows
	Objective     timing.Objective   `json:"objective,omitempty"` // that the schedule was chosen by; "" = time
	Energy        *EnergyInfo        `json:"energy,omitempty"`    // nil = not known
	Members       []MemberInfo       `json:"members,omitempty"`   // devices of this model that the tune was spread over, the first held the finals; nil = one alone
	Warnings      []string           `json:"warnings"`
	Time          time.Time          `json:"time"` // whole seconds, UTC

	// extra keeps the fields at the top level that this version does not know.
	extra map[string]json.RawMessage
}

// ToolInfo is what made the config.
type ToolInfo struct {
	Name     string `json:"name"`
	Version  string `json:"version"`
	Revision string `json:"revision"` // of the version control system; may be empty
}

// StencilInfo is what is computed.
type StencilInfo struct {
	Name     string `json:"name"`
	Hash     string `json:"hash"`  // SHA-256 of its meaning and of the scalars that steer: stencil.Problem.Hash
	DType    string `json:"dtype"` // like "float32"
	Dims     int    `json:"dims"`
	Points   int    `json:"points"` // offsets read
	Radius   int    `json:"radius"`
	Boundary string `json:"boundary"`
}

// ProblemInfo is the grid it was tuned for.
type ProblemInfo struct {
	Size  []int `json:"size"` // x first, one for each dimension
	Steps int   `json:"steps"`
}

// DeviceInfo is the device it was tuned on. See machine.Machine for the fields.
type DeviceInfo struct {
	Kind               machine.Kind `json:"kind"`
	Name               string       `json:"name"`
	UUID               string       `json:"uuid"`
	PCI                string       `json:"pci"`
	ComputeCapability  string       `json:"compute_capability"`
	SMs                int          `json:"sms"`
	MemoryBytes        int64        `json:"memory_bytes"`
	L2Bytes            int64        `json:"l2_bytes"`
	ClockHz            float64      `json:"clock_hz"`
	MemoryClockHz      float64      `json:"memory_clock_hz"`
	MemoryBusBits      int          `json:"memory_bus_bits"`
	Driver             string       `json:"driver"`
	CUDAVersion        string       `json:"cuda_version"`
	ECC                bool         `json:"ecc"`
	MIG                bool         `json:"mig"`
	Provenance         string       `json:"provenance"` // of a replay: the landscape it answers from
	CopyBytesPerSecond float64      `json:"copy_bytes_per_second"`
	// Limits are the driver's, where no table has those of the compute capability.
	Limits *machine.Limits `json:"limits,omitempty"`
}

// DeviceOf is what a config tells of a machine.
func DeviceOf(m machine.Machine) DeviceInfo {
	return DeviceInfo{
		Kind: m.Kind, Name: m.Name, UUID: m.UUID, PCI: m.PCI, ComputeCapability: m.ComputeCapability,
		SMs: m.SMs, MemoryBytes: m.MemoryBytes, L2Bytes: m.L2Bytes, ClockHz: m.ClockHz,
		MemoryClockHz: m.MemoryClockHz, MemoryBusBits: m.MemoryBusBits, Driver: m.Driver,
		CUDAVersion: m.CUDAVersion, ECC: m.ECC, MIG: m.MIG, CopyBytesPerSecond: m.CopyBytesPerSecond, Limits: m.Limits(),
	}
}

// Machine is the config's device as a machine: what the config does not tell follows
// from the compute capability.
func (c Config) Machine() machine.Machine {
	d := c.Device
	return machine.Machine{
		Kind: d.Kind, Name: d.Name, UUID: d.UUID, PCI: d.PCI, ComputeCapability: d.ComputeCapability, SMs: d.SMs,
		MemoryBytes: d.MemoryBytes, L2Bytes: d.L2Bytes, ClockHz: d.ClockHz, MemoryClockHz: d.MemoryClockHz, MemoryBusBits: d.MemoryBusBits,
		Driver: d.Driver, CUDAVersion: d.CUDAVersion, Compiler: c.Toolchain.Compiler, ECC: d.ECC, MIG: d.MIG, CopyBytesPerSecond: d.CopyBytesPerSecond,
	}.With(d.Limits).WithLimits()
}

// ToolchainInfo is what compiled the kernels.
type ToolchainInfo struct {
	Compiler string   `json:"compiler"` // name and version, "NVRTC 13.0"
	CUDA     string   `json:"cuda"`     // version of the CUDA headers or library; empty on the host
	Options  []string `json:"options"`  // given to every kernel
}

// ScheduleInfo is a schedule, as its text and taken apart.
type ScheduleInfo struct {
	Text       string         `json:"text"`
	Family     string         `json:"family"`
	Parameters map[string]int `json:"parameters"`
}

// ScheduleOf takes a schedule apart.
func ScheduleOf(s space.Schedule) ScheduleInfo {
	parameters := map[string]int{}
	for _, f := range s.Fields() {
		parameters[f.Name] = f.Value
	}
	return ScheduleInfo{Text: s.String(), Family: s.Family(), Parameters: parameters}
}

// LaunchInfo is the geometry of one launch on the problem's size.
type LaunchInfo struct {
	Grid           [3]int `json:"grid"`  // blocks
	Block          [3]int `json:"block"` // threads
	SharedBytes    int    `json:"shared_bytes"`
	StepsPerLaunch int    `json:"steps_per_launch"`
}

// KernelInfo is the compiled kernel.
type KernelInfo struct {
	Entry       string   `json:"entry"`
	SourceHash  string   `json:"source_hash"` // SHA-256 of the source
	Options     []string `json:"options"`     // it was compiled with
	Registers   int      `json:"registers"`   // a thread
	SpillBytes  int      `json:"spill_bytes"` // a thread
	BlocksPerSM int      `json:"blocks_per_sm"`
}

// RemainderInfo is the launch for the steps that are left over when the number
// of steps is no multiple of the steps of a launch.
type RemainderInfo struct {
	Schedule ScheduleInfo `json:"schedule"`
	Launch   LaunchInfo   `json:"launch"`
	Kernel   KernelInfo   `json:"kernel"`
}

// MeasuredInfo is what the schedule reached. The interval is the 95 % interval
// of the median.
type MeasuredInfo struct {
	SecondsPerStep float64       `json:"seconds_per_step"` // median
	Low            float64       `json:"low"`
	High           float64       `json:"high"`
	Samples        int           `json:"samples"`
	CellsPerSecond float64       `json:"cells_per_second"`
	BytesPerSecond float64       `json:"bytes_per_second"` // effective: each cell read once and written once
	Regime         timing.Regime `json:"regime"`
}

// BaselineInfo is what the best is compared with, measured in the same run.
type BaselineInfo struct {
	Schedule           string  `json:"schedule"`
	SecondsPerStep     float64 `json:"seconds_per_step"`
	CopyBytesPerSecond float64 `json:"copy_bytes_per_second"` // a copy, read plus written
}

// Tie is a schedule whose time cannot be told apart from the best.
type Tie struct {
	Schedule       string  `json:"schedule"`
	SecondsPerStep float64 `json:"seconds_per_step"`
}

// FinalInfo is a schedule's time in the last, interleaved round. The interval is the 95 %
// interval of the median.
type FinalInfo struct {
	Schedule       string  `json:"schedule"`
	SecondsPerStep float64 `json:"seconds_per_step"` // median
	Low            float64 `json:"low"`
	High           float64 `json:"high"`
	Samples        int     `json:"samples"`
}

// EnergyInfo is what schedules draw while they are launched without a pause, by the device's energy
// counter.
type EnergyInfo struct {
	Winner DrawInfo   `json:"winner"`
	Best   *BestInfo  `json:"best,omitempty"`   // where energy was to decide
	Finals []DrawInfo `json:"finals,omitempty"` // where energy was to decide: all that were measured, the least energy first
}

// DrawInfo is the energy of a schedule: of the whole board, with what it takes when idle. The
// interval is the 95 % interval of the median.
type DrawInfo struct {
	Schedule              string  `json:"schedule"`
	JoulesPerBillionCells float64 `json:"joules_per_billion_cells"` // of 10^9 cell updates; median
	Low                   float64 `json:"low"`
	High                  float64 `json:"high"`
	Samples               int     `json:"samples"`               // stretches of launches without a pause
	SecondsPerStep        float64 `json:"seconds_per_step"`      // in them; median
	Watts                 float64 `json:"watts"`                 // mean
	SMClockHz             float64 `json:"sm_clock_hz,omitempty"` // mean; left out if not known
	// ClocksLowered are the reasons that lowered the clocks: "power cap". Left out if not known.
	ClocksLowered []string `json:"clocks_lowered,omitzero"`
}

// BestInfo are the finalists that each objective would choose.
type BestInfo struct {
	Time   string `json:"time"`
	Energy string `json:"energy"`
	EDP    string `json:"edp"`
}

// MemberInfo is the schedule on one of several devices of a model, which differ. Its answer was
// checked there.
type MemberInfo struct {
	UUID           string   `json:"uuid"`
	PCI            string   `json:"pci"`
	Factor         float64  `json:"factor"`           // seconds of the naive kernel over those on the first
	SecondsPerStep float64  `json:"seconds_per_step"` // median
	Low            float64  `json:"low"`
	High           float64  `json:"high"`
	Samples        int      `json:"samples"`
	Energy         DrawInfo `json:"energy,omitzero"` // of no samples = not known
}

// VerificationInfo is how it is known that the answer is right.
type VerificationInfo struct {
	Checks []CheckInfo `json:"checks"`
}

// CheckInfo is one comparison of every cell.
type CheckInfo struct {
	Against   string  `json:"against"`            // "reference", or the schedule that was trusted
	DType     string  `json:"dtype,omitempty"`    // if in another than the stencil's
	Schedule  string  `json:"schedule,omitempty"` // if of another that is near it
	Size      []int   `json:"size"`
	Steps     int     `json:"steps"`
	Cells     int64   `json:"cells"`
	MaxError  float64 `json:"max_error"`
	Tolerance float64 `json:"tolerance"`
	Seed      uint32  `json:"seed"` // of the input
}

// SearchInfo is how the schedule was found.
type SearchInfo struct {
	Strategy    string        `json:"strategy"`
	Evaluated   int           `json:"evaluated"` // schedules tried
	Failed      int           `json:"failed"`    // of these, could not be used
	Space       int           `json:"space"`     // legal schedules, without those that advice leaves out
	RawSpace    int           `json:"raw_space"` // before constraints
	Stop        search.Reason `json:"stop"`
	Seed        uint64        `json:"seed"`
	Complete    bool          `json:"complete"` // the search ended by its own rules
	Seconds     float64       `json:"seconds"`
	Utilisation float64       `json:"utilisation"` // share of the time the device was measuring
}

// MatchInfo is how well the config fits what was asked for.
type MatchInfo struct {
	Grade Grade  `json:"grade"`
	Note  string `json:"note"` // what it was tuned for, unless exact
}

// WithinInfo says with what probability the schedule takes at most 1 + Share times as long as the best of
// the space that was searched.
type WithinInfo struct {
	Share       float64 `json:"share"`
	Probability float64 `json:"probability"`
}

// ExpectedInfo is what a schedule should reach on a problem that it was not
// measured on.
type ExpectedInfo struct {
	SecondsPerStep float64 `json:"seconds_per_step"`
	Loss           float64 `json:"loss"`  // share of time lost against the problem's own best; meaningless unless Sizes > 1
	Sizes          int     `json:"sizes"` // problems with measurements behind it
}

// maxNote is the longest note and the longest of most texts in a config.
const maxNote = 1000

// known are the names of the fields of a config, in order.
var known = func() []string {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Config]()) {
		if name := fieldName(f); name != "" {
			names = append(names, name)
		}
	}
	return names
}()

// fieldName is a Go field's name in a document; "" if it is not in it.
func fieldName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// plainConfig is a Config without its methods: what encoding/json may handle.
type plainConfig Config

// clean makes text from outside (a driver, a compiler, a log) fit for the
// document, so that an odd device name cannot void a finished search.
func clean(text *string, limit int) {
	*text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(*text, "?"))
	if r := []rune(*text); len(r) > limit { // a schema counts characters
		*text = string(r[:limit-3]) + "..."
	}
}

// normal is the config with what has one spelling only: format, time, no null
// for an empty list, no control characters in names and notes.
func (c Config) normal() Config {
	if c.Format == "" {
		c.Format = ConfigFormat
	}
	for _, t := range []*string{&c.Tool.Version, &c.Tool.Revision, &c.Stencil.Name, &c.Device.Name, &c.Device.UUID, &c.Toolchain.Compiler} {
		clean(t, 200)
	}
	for _, t := range []*string{&c.Device.PCI, &c.Device.Driver, &c.Device.CUDAVersion, &c.Toolchain.CUDA} {
		clean(t, 100)
	}
	c.Members = slices.Clone(c.Members)
	for i := range c.Members {
		clean(&c.Members[i].UUID, 200)
		clean(&c.Members[i].PCI, 100)
	}
	clean(&c.Device.Provenance, maxNote)
	clean(&c.Match.Note, maxNote)
	c.Warnings = slices.Clone(c.Warnings)
	for i := range c.Warnings {
		clean(&c.Warnings[i], maxNote)
	}
	c.Time = c.Time.UTC().Truncate(time.Second)
	lists := []*[]string{&c.Warnings, &c.Toolchain.Options, &c.Kernel.Options}
	if c.Remainder != nil {
		r := *c.Remainder
		c.Remainder = &r
		lists = append(lists, &r.Kernel.Options)
		if r.Schedule.Parameters == nil {
			r.Schedule.Parameters = map[string]int{}
		}
	}
	for _, l := range lists {
		if *l == nil {
			*l = []string{}
		}
	}
	if c.Ties == nil {
		c.Ties = []Tie{}
	}
	if c.Verification.Checks == nil {
		c.Verification.Checks = []CheckInfo{}
	}
	if c.Schedule.Parameters == nil {
		c.Schedule.Parameters = map[string]int{}
	}
	return c
}

// MarshalJSON writes the config on one line, the unknown fields last and sorted.
// It does not validate: see Encode.
func (c Config) MarshalJSON() ([]byte, error) {
	if err := finite(reflect.ValueOf(plainConfig(c)), ""); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(plainConfig(c.normal())); err != nil {
		return nil, err
	}
	b.Truncate(b.Len() - len("}\n"))
	for _, name := range slices.Sorted(maps.Keys(c.extra)) {
		quoted, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		b.WriteByte(',')
		b.Write(quoted)
		b.WriteByte(':')
		if err := json.Compact(&b, c.extra[name]); err != nil {
			return nil, fmt.Errorf("config: at '%s': %w", pointer(name), err)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads a config without validating it: see Decode. Fields that
// this version does not know are kept, and written again.
func (c *Config) UnmarshalJSON(data []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	// encoding/json takes names that differ by case for the same: it must see
	// none but our own.
	var own bytes.Buffer
	own.WriteByte('{')
	for _, name := range known {
		if value, ok := fields[name]; ok {
			if own.Len() > 1 {
				own.WriteByte(',')
			}
			own.WriteString(strconv.Quote(name) + ":")
			own.Write(value)
			delete(fields, name)
		}
	}
	own.WriteByte('}')
	var p plainConfig
	err := json.Unmarshal(own.Bytes(), &p)
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && strings.HasPrefix(kind.Value, "number ") {
		// To a schema 512.0 and 5.12e2 are integers too.
		p = plainConfig{}
		err = json.Unmarshal(integers(own.Bytes()), &p)
	}
	if err != nil {
		return err
	}
	if len(fields) > 0 {
		p.extra = fields
	}
	*c = Config(p)
	return nil
}

// integers rewrites whole numbers that are written with a point or an exponent as
// digits, if 64 bits hold them. What is no JSON stays as it is.
func integers(data []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var doc any
	if d.Decode(&doc) != nil {
		return data
	}
	var walk func(v any) any
	walk = func(v any) any {
		switch x := v.(type) {
		case map[string]any:
			for name := range x {
				x[name] = walk(x[name])
			}
		case []any:
			for i := range x {
				x[i] = walk(x[i])
			}
		case json.Number:
			if !strings.ContainsAny(string(x), ".eE") || wrongNumber(string(x)) != "" {
				return x
			}
			if r, ok := new(big.Rat).SetString(string(x)); ok && r.IsInt() && r.Num().BitLen() <= 64 {
				return json.Number(r.Num().String())
			}
		}
		return v
	}
	plain, err := json.Marshal(walk(doc))
	if err != nil {
		return data
	}
	return plain
}

// finite finds the first float that JSON cannot hold.
func finite(v reflect.Value, path string) error {
	switch v.Kind() {
	case reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("config: at '%s': %v is no number that JSON can hold", path, f)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return finite(v.Elem(), path)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			if err := finite(v.MapIndex(k), path+"/"+k.String()); err != nil {
				return err
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := finite(v.Index(i), path+"/"+strconv.Itoa(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if name := fieldName(v.Type().Field(i)); name != "" {
				if err := finite(v.Field(i), path+"/"+name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Encode writes the document: the same bytes for the same config, two blanks of
// indent, one newline at the end. A config that its own schema refuses is an
// error, so no invalid document leaves the tool.
func Encode(c Config) ([]byte, error) {
	line, err := c.MarshalJSON()
	if err != nil {
		return nil, err
	}
	if err := validate(line); err != nil {
		return nil, err
	}
	if err := c.coherent(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, line, "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	if b.Len() > MaxConfig {
		return nil, fmt.Errorf("config: %d bytes, more than %d", b.Len(), MaxConfig)
	}
	return b.Bytes(), nil
}

// Decode reads and validates a document from anywhere. Errors name the place in
// it as a JSON pointer: "at '/problem/size/0'".
func Decode(data []byte) (Config, error) {
	if err := scan(data); err != nil {
		return Config{}, err
	}
	if err := validate(data); err != nil {
		return Config{}, err
	}
	var c Config
	if err := c.UnmarshalJSON(data); err != nil {
		return Config{}, plainError(err)
	}
	for name := range c.extra {
		for _, own := range known {
			if strings.EqualFold(name, own) {
				return Config{}, fmt.Errorf("config: at '%s': unknown field; did you mean %q?", pointer(name), own)
			}
		}
	}
	if err := c.coherent(); err != nil {
		return Config{}, err
	}
	if len(data) > MaxConfig/longer { // what is read can be written
		if _, err := Encode(c); err != nil {
			return Config{}, err
		}
	}
	return c, nil
}

// longer is how many times as long a document is at most once Encode has indented it: a bracket may have a line of its own.
const longer = 2 * maxDepth

// plainError words an error of encoding/json like those of the schema.
func plainError(err error) error {
	switch e := err.(type) {
	case *json.UnmarshalTypeError:
		return fmt.Errorf("config: at '/%s': got %s, which does not fit %v", strings.ReplaceAll(e.Field, ".", "/"), e.Value, e.Type)
	case *time.ParseError: // the only field read by package time
		return fmt.Errorf("config: at '/time': there is no time %s", printable(e.Value))
	}
	return fmt.Errorf("config: %w", err)
}

// coherent checks what a schema cannot say: that schedules and their parts agree.
func (c Config) coherent() error {
	if err := c.Schedule.coherent("/schedule"); err != nil {
		return err
	}
	if c.Remainder != nil {
		return c.Remainder.Schedule.coherent("/remainder/schedule")
	}
	return nil
}

func (s ScheduleInfo) coherent(path string) error {
	sc, err := space.ParseSchedule(s.Text)
	if err != nil {
		return fmt.Errorf("config: at '%s/text': %w", path, err)
	}
	want := ScheduleOf(sc)
	if s.Family != want.Family {
		return fmt.Errorf("config: at '%s/family': %.40q is not the family of %s", path, s.Family, s.Text)
	}
	if !maps.Equal(s.Parameters, want.Parameters) {
		return fmt.Errorf("config: at '%s/parameters': they are not those of %s", path, s.Text)
	}
	return nil
}
