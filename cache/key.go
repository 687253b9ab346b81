package cache

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"stenciltune/machine"
	"stenciltune/timing"
)

// Key names a problem on a device: what a schedule is the answer to. The first
// half is the problem, the second the device and what compiles for it.
type Key struct {
	StencilHash string // SHA-256 of what is computed
	DType       string // like "float32"
	Boundary    string // rule for points outside the grid
	Size        string // extents, x first: "512x512x512"
	StepsClass  string // from StepsClass
	Regime      string // "warm" or "cold": which question the time answers

	Kind              machine.Kind // cuda, host or replay: their times are never mixed
	DeviceName        string       // "NVIDIA H200"
	ComputeCapability string       // "9.0"; empty on the host
	MemoryBytes       int64        // device memory; counts in whole GiB
	Driver            string       // major version, "580"; empty on the host
	Compiler          string       // name and major version, "NVRTC 13"

	Objective timing.Objective // that the winner was chosen by; "" = time, as in every key without one
}

// ManySteps is the class of every number of time steps from fewSteps on.
const ManySteps = "many"

// fewSteps is where the number of steps stops to matter. A schedule cannot fuse
// more steps than there are, and with few of them the launch for the remainder is
// a good part of the whole; from 16 on, one answer serves for all.
const fewSteps = 16

// StepsClass is the class of a number of time steps: below 16 the number itself,
// since it limits the time tile, else "many".
func StepsClass(steps int) string {
	if steps < fewSteps {
		return strconv.Itoa(steps)
	}
	return ManySteps
}

// On is the key with its device half taken from a machine.
func (k Key) On(m machine.Machine) Key {
	clean(&m.Name, 200) // as a config has it
	clean(&m.Driver, 100)
	clean(&m.Compiler, 200)
	k.Kind = m.Kind
	k.DeviceName = m.Name
	k.ComputeCapability = m.ComputeCapability
	k.MemoryBytes = gib(m.MemoryBytes) << 30
	k.Driver, _, _ = strings.Cut(m.Driver, ".")
	name, version, _ := strings.Cut(m.Compiler, " ")
	major, _, _ := strings.Cut(version, ".")
	k.Compiler = strings.TrimSpace(name + " " + major)
	return k
}

// For is the key of the answer by an objective.
func (k Key) For(o timing.Objective) Key {
	if k.Objective = o; o == timing.ForTime {
		k.Objective = ""
	}
	return k
}

// Journal is the key of the journal behind it: what was timed serves every objective.
func (k Key) Journal() Key { return k.For(timing.ForTime) }

// gib rounds bytes to whole GiB: drivers of one card differ by a few MiB.
func gib(bytes int64) int64 { return int64(math.Round(float64(bytes) / (1 << 30))) }

// keyVersion is the version of the key's text. Another meaning of any field
// needs another version: then old records match nothing.
const keyVersion = "v1"

// fields lists the key's fields by name, in the order of its text. The last one is left out where
// the objective is time.
func (k Key) fields() [13]struct{ name, value string } {
	return [13]struct{ name, value string }{
		{"stencil", k.StencilHash},
		{"dtype", k.DType},
		{"boundary", k.Boundary},
		{"size", k.Size},
		{"steps", k.StepsClass},
		{"regime", k.Regime},
		{"kind", string(k.Kind)},
		{"device", k.DeviceName},
		{"cc", k.ComputeCapability},
		{"memory", strconv.FormatInt(gib(k.MemoryBytes), 10) + "GiB"},
		{"driver", k.Driver},
		{"compiler", k.Compiler},
		{"objective", string(k.Objective)},
	}
}

// String is the canonical text, "v1 stencil=... dtype=float32 ...": every field
// by its name, quoted where it holds more than letters, digits and ".-_+".
func (k Key) String() string {
	var b strings.Builder
	b.WriteString(keyVersion)
	for i, f := range k.fields() {
		if optional(i, f.value) {
			break
		}
		b.WriteByte(' ')
		b.WriteString(f.name)
		b.WriteByte('=')
		if plain(f.value) {
			b.WriteString(f.value)
		} else {
			b.WriteString(strconv.QuoteToASCII(f.value))
		}
	}
	return b.String()
}

// stencil is how the texts begin of all keys with the same stencil, element type and boundary.
func (k Key) stencil() string {
	text := k.String()
	return text[:strings.Index(text, " size=")+1]
}

// optional tells whether the field at a place is left out.
func optional(i int, value string) bool { return i == len(Key{}.fields())-1 && value == "" }

// unclean tells whether a field has control characters, which On leaves none of.
func (k Key) unclean() bool {
	for _, f := range k.fields() {
		if strings.ContainsFunc(f.value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return true
		}
	}
	return false
}

func plain(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(".-_+", r)
	}) < 0
}

// ParseKey reads a canonical text.
func ParseKey(text string) (Key, error) {
	bad := func(why string) (Key, error) { return Key{}, fmt.Errorf("key %.60q: %s", text, why) }
	rest, ok := strings.CutPrefix(text, keyVersion+" ")
	if !ok {
		return bad("want a text that begins with " + keyVersion)
	}
	var k Key
	for i, f := range k.fields() {
		if optional(i, rest) {
			break
		}
		if i > 0 {
			if rest, ok = strings.CutPrefix(rest, " "); !ok {
				return bad("want a blank before " + f.name)
			}
		}
		if rest, ok = strings.CutPrefix(rest, f.name+"="); !ok {
			return bad("want the field " + f.name)
		}
		var value string
		if strings.HasPrefix(rest, `"`) {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return bad("unfinished quotes in " + f.name)
			}
			rest = rest[len(quoted):]
			if value, err = strconv.Unquote(quoted); err != nil {
				return bad("wrong quotes in " + f.name)
			}
		} else {
			n := strings.IndexByte(rest, ' ')
			if n < 0 {
				n = len(rest)
			}
			value, rest = rest[:n], rest[n:]
		}
		if f.name == "memory" {
			n, err := strconv.ParseInt(strings.TrimSuffix(value, "GiB"), 10, 33)
			if err != nil {
				return bad("memory must be a number of GiB")
			}
			k.MemoryBytes = n << 30
			continue
		}
		*k.field(f.name) = value
	}
	if rest != "" {
		return bad("text after the last field")
	}
	if k.String() != text {
		return bad("not in canonical form")
	}
	return k, nil
}

// MarshalText writes the canonical text.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a canonical text.
func (k *Key) UnmarshalText(b []byte) error {
	p, err := ParseKey(string(b))
	*k = p
	return err
}

// field is where the text field of that name is kept.
func (k *Key) field(name string) *string {
	switch name {
	case "stencil":
		return &k.StencilHash
	case "dtype":
		return &k.DType
	case "boundary":
		return &k.Boundary
	case "size":
		return &k.Size
	case "steps":
		return &k.StepsClass
	case "regime":
		return &k.Regime
	case "kind":
		return (*string)(&k.Kind)
	case "device":
		return &k.DeviceName
	case "cc":
		return &k.ComputeCapability
	case "driver":
		return &k.Driver
	case "compiler":
		return &k.Compiler
	case "objective":
		return (*string)(&k.Objective)
	}
	panic("cache: no field " + name)
}

// Grade says how well a record fits a key. A smaller grade fits better.
type Grade int

// The grades, in order of preference.
const (
	Exact       Grade = iota // the same problem on the same device with the same driver and compiler
	OtherSize                // another grid size or number of steps, all else the same
	OtherDriver              // another driver or compiler major version on the same device
	OtherDevice              // another device of the same kind
	None                     // another stencil, element type, boundary, cache regime, kind of device or objective: no use
)

var gradeNames = [...]string{"exact", "other-size", "other-driver", "other-device", "none"}

// String is the grade as the config spells it.
func (g Grade) String() string {
	if g < 0 || int(g) >= len(gradeNames) {
		return "Grade(" + strconv.Itoa(int(g)) + ")"
	}
	return gradeNames[g]
}

// MarshalText writes the grade's name.
func (g Grade) MarshalText() ([]byte, error) {
	if g < 0 || int(g) >= len(gradeNames) {
		return nil, fmt.Errorf("no such grade: %d", int(g))
	}
	return []byte(gradeNames[g]), nil
}

// UnmarshalText reads a grade's name.
func (g *Grade) UnmarshalText(b []byte) error {
	for i, name := range gradeNames {
		if name == string(b) {
			*g = Grade(i)
			return nil
		}
	}
	return fmt.Errorf("unknown grade %.40q: use one of %s", b, strings.Join(gradeNames[:], ", "))
}

// Match grades a record made for other as an answer to k. The worst difference
// counts: another size on another device is OtherDevice.
func (k Key) Match(other Key) Grade {
	switch {
	case k.StencilHash != other.StencilHash, k.DType != other.DType, k.Boundary != other.Boundary, k.Regime != other.Regime, k.Kind != other.Kind, k.Objective != other.Objective:
		return None
	case k.DeviceName != other.DeviceName, k.ComputeCapability != other.ComputeCapability, gib(k.MemoryBytes) != gib(other.MemoryBytes):
		return OtherDevice
	case k.Driver != other.Driver, k.Compiler != other.Compiler:
		return OtherDriver
	case k.Size != other.Size, k.StepsClass != other.StepsClass:
		return OtherSize
	}
	return Exact
}

// Nearer orders two keys by how well they fit k: the grade, then the device
// (compute capability, memory), the class of steps, the size (aspect and
// volume), the driver, and last their texts so that the order is total.
func (k Key) Nearer(a, b Key) int {
	return cmp.Or(
		cmp.Compare(k.Match(a), k.Match(b)),
		cmp.Compare(versionDistance(k.ComputeCapability, a.ComputeCapability), versionDistance(k.ComputeCapability, b.ComputeCapability)),
		cmp.Compare(ratio(k.MemoryBytes, a.MemoryBytes), ratio(k.MemoryBytes, b.MemoryBytes)),
		cmp.Compare(differ(k.StepsClass, a.StepsClass), differ(k.StepsClass, b.StepsClass)),
		cmp.Compare(sizeDistance(k.Size, a.Size), sizeDistance(k.Size, b.Size)),
		cmp.Compare(versionDistance(k.Driver, a.Driver), versionDistance(k.Driver, b.Driver)),
		cmp.Compare(differ(k.Compiler, a.Compiler), differ(k.Compiler, b.Compiler)),
		cmp.Compare(a.String(), b.String()),
	)
}

func differ(a, b string) int {
	if a == b {
		return 0
	}
	return 1
}

// versionDistance is how far two versions lie apart; +Inf if one is no number.
func versionDistance(a, b string) float64 {
	if a == b {
		return 0
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if d := math.Abs(x - y); errX == nil && errY == nil && !math.IsNaN(d) {
		return d
	}
	return math.Inf(1)
}

// ratio is the logarithm of how many times one amount is the other.
func ratio(a, b int64) float64 {
	if a == b {
		return 0
	}
	if a <= 0 || b <= 0 {
		return math.Inf(1)
	}
	return math.Abs(math.Log(float64(a) / float64(b)))
}

// sizeDistance is the length of the vector of the logarithms of the extents'
// ratios. Its part along the diagonal is the difference in volume, the rest the
// difference in aspect, so both count. Sizes of different dimensions, or texts
// that are no sizes, are infinitely far apart.
func sizeDistance(a, b string) float64 {
	if a == b {
		return 0
	}
	as, bs := strings.Split(a, "x"), strings.Split(b, "x")
	if len(as) != len(bs) {
		return math.Inf(1)
	}
	sum := 0.0
	for i := range as {
		m, errM := strconv.ParseInt(as[i], 10, 64)
		n, errN := strconv.ParseInt(bs[i], 10, 64)
		if errM != nil || errN != nil {
			return math.Inf(1)
		}
		r := ratio(m, n)
		sum += r * r
	}
	return math.Sqrt(sum)
}
