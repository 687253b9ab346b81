package cache

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stenciltune/timing"
)

func encode(t testing.TB, c Config) []byte {
	t.Helper()
	data, err := Encode(c)
	must(t, err)
	return data
}

func TestConfigGolden(t *testing.T) {
	path := filepath.Join("testdata", "config.golden.json")
	got := encode(t, testConfig())
	if *update {
		must(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("go test -update writes it anew:\n%s", d)
	}
}

func TestConfigRoundTrip(t *testing.T) {
	small := testConfig()
	small.Remainder, small.Baseline, small.Ties, small.Warnings = nil, nil, nil, nil
	small.Verification.Checks, small.Kernel.Options, small.Toolchain.Options = nil, nil, nil
	small.Schedule = ScheduleOf(mustSchedule("naive"))
	small.Format = ""
	for _, c := range []Config{testConfig(), small, energyConfig()} {
		data := encode(t, c)
		back, err := Decode(data)
		must(t, err)
		if d := cmp.Diff(c.normal(), back, unexported); d != "" {
			t.Error(d)
		}
		if !bytes.Equal(data, encode(t, back)) {
			t.Error("other bytes the second time")
		}
		if bytes.Contains(data, []byte("null,\n")) != (c.Remainder == nil) {
			t.Error("null for an empty list, or none for no remainder")
		}
	}
}

// TestEncodeDoesNotChange makes sure that a config is not written to.
// energyConfig is a config that was chosen by energy.
func energyConfig() Config {
	c := testConfig()
	best, rest := c.Schedule.Text, c.Remainder.Schedule.Text
	c.Objective = timing.ForEnergy
	c.Energy = &EnergyInfo{
		Winner: DrawInfo{Schedule: best, JoulesPerBillionCells: 0.6, Low: 0.59, High: 0.61, Samples: 6, SecondsPerStep: 1.3e-4, Watts: 690.5, SMClockHz: 1.7e9, ClocksLowered: []string{timing.PowerCap}},
		Best:   &BestInfo{Time: rest, Energy: best, EDP: best},
		Finals: []DrawInfo{{Schedule: best, JoulesPerBillionCells: 0.6, Samples: 6, Watts: 690.5, ClocksLowered: []string{}}, {Schedule: rest, Samples: 2}},
	}
	c.Members = []MemberInfo{{UUID: c.Device.UUID, Factor: 1, SecondsPerStep: 1.3e-4, Samples: 30, Energy: c.Energy.Winner}, {UUID: "GPU-2", Factor: 1.02, SecondsPerStep: 1.32e-4, Samples: 30}}
	return c
}

// TestWhatIsNotKnownOfEnergyIsLeftOut: no zero and no empty list stands for it.
func TestWhatIsNotKnownOfEnergyIsLeftOut(t *testing.T) {
	var doc struct {
		Energy struct{ Finals []map[string]any }
	}
	must(t, json.Unmarshal(encode(t, energyConfig()), &doc))
	if list, ok := doc.Energy.Finals[0]["clocks_lowered"].([]any); !ok || len(list) != 0 || doc.Energy.Finals[0]["sm_clock_hz"] != nil {
		t.Errorf("%v", doc.Energy.Finals[0])
	}
	if _, ok := doc.Energy.Finals[1]["clocks_lowered"]; ok {
		t.Errorf("%v", doc.Energy.Finals[1])
	}
	if data := encode(t, testConfig()); bytes.Contains(data, []byte(`"energy"`)) || bytes.Contains(data, []byte(`"objective"`)) {
		t.Error("energy where nothing is known of it")
	}
	bad := energyConfig()
	bad.Objective = "power"
	if _, err := Encode(bad); err == nil {
		t.Error("an objective that is none")
	}
}

func TestEncodeDoesNotChange(t *testing.T) {
	c := testConfig()
	c.Warnings = []string{"a\nb"}
	c.Remainder.Kernel.Options = nil
	c.Time = time.Date(2026, 1, 2, 3, 4, 5, 678, time.FixedZone("east", 3600))
	back, err := Decode(encode(t, c))
	must(t, err)
	if c.Warnings[0] != "a\nb" || c.Remainder.Kernel.Options != nil {
		t.Error("Encode changed its argument")
	}
	if back.Warnings[0] != "a b" || !back.Time.Equal(c.Time.Truncate(time.Second)) || back.Time.Location() != time.UTC {
		t.Error(back.Warnings, back.Time)
	}
}

func TestEncodeOddNames(t *testing.T) {
	c := testConfig()
	c.Device.Name = "GPU \x00\x1b[31m\xff </script> \u202e" + strings.Repeat("é", 500)
	c.Warnings = []string{strings.Repeat("w", 5000)}
	data := encode(t, c)
	if _, err := Decode(data); err != nil {
		t.Fatal(err)
	}
	if bytes.ContainsAny(data, "\x00\x1b") || !bytes.Contains(data, []byte("</script>")) {
		t.Errorf("%.300s", data)
	}
}

func TestEncodeRefuses(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"/scalars/lambda":                  func(c *Config) { c.Scalars = map[string]float64{"lambda": math.NaN()} },
		"/measured/low":                    func(c *Config) { c.Measured.Low = math.NaN() },
		"/ties/0/seconds_per_step":         func(c *Config) { c.Ties[0].SecondsPerStep = math.Inf(1) },
		"/baseline/seconds_per_step":       func(c *Config) { c.Baseline.SecondsPerStep = math.Inf(-1) },
		"/verification/checks/1/max_error": func(c *Config) { c.Verification.Checks[1].MaxError = math.NaN() },
		"/format":                          func(c *Config) { c.Format = "other/v9" },
		"/launch/grid/0":                   func(c *Config) { c.Launch.Grid[0] = 0 },
		"/kernel/entry":                    func(c *Config) { c.Kernel.Entry = "a b" },
		"/problem/size":                    func(c *Config) { c.Problem.Size = nil },
		"/schedule/text":                   func(c *Config) { c.Schedule.Text = "tile/gx=" },
		"/schedule/family":                 func(c *Config) { c.Schedule.Family = "slide" },
		"/schedule/parameters":             func(c *Config) { c.Schedule.Parameters["gx"]++ },
		"/remainder/schedule/parameters":   func(c *Config) { delete(c.Remainder.Schedule.Parameters, "gx") },
		"no such grade":                    func(c *Config) { c.Match.Grade = 7 },
	} {
		c := testConfig()
		change(&c)
		if _, err := Encode(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %s: %v", want, err)
		}
	}
}

func TestUnknownFieldsSurvive(t *testing.T) {
	data := encode(t, testConfig())
	more := bytes.Replace(data, []byte("{\n"), []byte("{\n  \"zeta\": {\"b\": 1.50, \"a\": [null, \"\u2028<\"]}, \"alpha\\n\": 1e2,\n"), 1)
	c, err := Decode(more)
	must(t, err)
	out := encode(t, c)
	for _, want := range []string{`"alpha\n": 1e2`, `"b": 1.50`, "\"\u2028<\""} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("%s is lost", want)
		}
	}
	if !bytes.Equal(out[:len(data)-3], data[:len(data)-3]) {
		t.Error("the known fields changed")
	}
	again, err := Decode(out)
	must(t, err)
	if !bytes.Equal(out, encode(t, again)) {
		t.Error("other bytes the second time")
	}
	// Also through the store.
	s := openTemp(t)
	must(t, s.PutBest(KeyOf(c), c))
	stored, _, _, err := s.Best(KeyOf(c))
	must(t, err)
	if !bytes.Equal(out, encode(t, stored)) {
		t.Error("lost in the store")
	}
	// A nested one is refused: it may be a slip of the pen.
	nested := bytes.Replace(data, []byte(`"sms"`), []byte(`"Sms": 1, "sms"`), 1)
	if _, err := Decode(nested); err == nil || !strings.Contains(err.Error(), "/device") || !strings.Contains(err.Error(), "Sms") {
		t.Error(err)
	}
	// So is one that some readers would take for another.
	cased := bytes.Replace(data, []byte("{\n"), []byte("{\n  \"Speedup\": 9,\n"), 1)
	if _, err := Decode(cased); err == nil || !strings.Contains(err.Error(), `did you mean "speedup"`) {
		t.Error(err)
	}
}

// TestSchemaFitsStructs compares the schema's properties with the Go fields.
func TestSchemaFitsStructs(t *testing.T) {
	var doc map[string]any
	must(t, json.Unmarshal(Schema(), &doc))
	defs := doc["$defs"].(map[string]any)
	var walk func(typ reflect.Type, schema map[string]any, path string)
	walk = func(typ reflect.Type, schema map[string]any, path string) {
		if r, ok := schema["$ref"].(string); ok {
			schema = defs[strings.TrimPrefix(r, "#/$defs/")].(map[string]any)
		}
		switch typ.Kind() {
		case reflect.Pointer:
			if !slices.Equal(schema["type"].([]any), []any{"object", "null"}) {
				t.Errorf("%s: %v", path, schema["type"])
			}
			walk(typ.Elem(), schema, path)
		case reflect.Slice, reflect.Array:
			if schema["type"] != "array" {
				t.Errorf("%s: %v", path, schema["type"])
				return
			}
			walk(typ.Elem(), schema["items"].(map[string]any), path+"/0")
		case reflect.Struct:
			if typ == reflect.TypeFor[time.Time]() {
				return
			}
			properties, _ := schema["properties"].(map[string]any)
			var names []string // of required fields
			all := 0
			for _, f := range reflect.VisibleFields(typ) {
				name := fieldName(f)
				if name == "" {
					continue
				}
				all++
				if tag := f.Tag.Get("json"); !strings.HasSuffix(tag, ",omitempty") && !strings.HasSuffix(tag, ",omitzero") {
					names = append(names, name)
				}
				p, ok := properties[name].(map[string]any)
				if !ok {
					t.Errorf("%s/%s is not in the schema", path, name)
					continue
				}
				described := p
				if r, ok := p["$ref"].(string); ok && p["description"] == nil {
					described = defs[strings.TrimPrefix(r, "#/$defs/")].(map[string]any)
				}
				if described["description"] == nil {
					t.Errorf("%s/%s has no description", path, name)
				}
				walk(f.Type, p, path+"/"+name)
			}
			var required []string
			for _, r := range schema["required"].([]any) {
				required = append(required, r.(string))
			}
			if !slices.Equal(names, required) || len(properties) != all {
				t.Errorf("%s: schema requires %v, Go has %v", path, required, names)
			}
			if path != "" && schema["additionalProperties"] != false {
				t.Errorf("%s takes more fields", path)
			}
		case reflect.Map:
			if schema["type"] != "object" {
				t.Errorf("%s: %v", path, schema["type"])
			}
		default:
			want := map[reflect.Kind]string{reflect.String: "string", reflect.Bool: "boolean", reflect.Float64: "number",
				reflect.Int: "integer", reflect.Int64: "integer", reflect.Uint32: "integer", reflect.Uint64: "integer"}[typ.Kind()]
			if typ == reflect.TypeFor[Grade]() {
				want = "string"
			}
			if _, fixed := schema["const"]; !fixed && schema["type"] != want {
				t.Errorf("%s is a %v in Go and %v in the schema", path, typ, schema["type"])
			}
			if (want == "integer") != (schema["maximum"] != nil) {
				t.Errorf("%s: an integer needs a maximum, a float has none", path)
			}
		}
	}
	walk(reflect.TypeFor[Config](), doc, "")
}

func TestSchemaFollowsNoReference(t *testing.T) {
	if _, err := (noLoader{}).Load("file:///etc/passwd"); err == nil {
		t.Error("a reference was followed")
	}
	s := Schema()
	s[0] = 'x'
	if Schema()[0] != '{' {
		t.Error("the schema can be changed")
	}
}

// leaf is a place in a document: how to get there, and what is there.
type leaf struct {
	path  string
	set   func(any)
	erase func() // nil in an array
	value any
}

// leaves lists every value in a document, itself excluded.
func leaves(doc any, path string) []leaf {
	var all []leaf
	switch v := doc.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			p, x := path+"/"+name, v[name]
			all = append(all, leaf{p, func(y any) { v[name] = y }, func() { delete(v, name) }, x})
			all = append(all, leaves(x, p)...)
		}
	case []any:
		for i, x := range v {
			p := fmt.Sprint(path, "/", i)
			all = append(all, leaf{p, func(y any) { v[i] = y }, nil, x})
			all = append(all, leaves(x, p)...)
		}
	}
	return all
}

// TestMutations changes every value of a document in many ways. Decode must
// refuse exactly what the schema refuses, plus schedules that contradict
// themselves, and name the place.
func TestMutations(t *testing.T) {
	var doc any
	d := json.NewDecoder(bytes.NewReader(encode(t, testConfig())))
	d.UseNumber()
	must(t, d.Decode(&doc))
	n, refused := 0, 0
	try := func(l leaf, what string, wantRefused bool) {
		t.Helper()
		n++
		data, err := json.Marshal(doc)
		must(t, err)
		_, err = Decode(data)
		schema := validate(data)
		schedule := strings.Contains(l.path, "schedule/")
		if (err == nil) != (schema == nil) && !schedule {
			t.Errorf("%s %s: Decode says %v, the schema %v", l.path, what, err, schema)
		}
		if wantRefused && err == nil {
			t.Errorf("%s %s: taken", l.path, what)
		}
		if err == nil {
			return
		}
		refused++
		parent := l.path[:strings.LastIndex(l.path, "/")]
		named := strings.Contains(err.Error(), "'"+l.path) || strings.Contains(err.Error(), "'"+parent+"'")
		if schedule { // which of its parts is wrong cannot be known
			named = strings.Contains(err.Error(), "'"+parent)
		}
		if !named {
			t.Errorf("%s %s: the place is not named: %v", l.path, what, err)
		}
	}
	nullable := []string{"/remainder", "/baseline"}
	for _, l := range leaves(doc, "") {
		if l.erase != nil && !strings.Contains(l.path, "/parameters/") {
			l.erase()
			try(l, "left out", true)
			l.set(l.value)
		}
		for _, v := range []any{nil, true, "text", json.Number("-1"), json.Number("0.5"), json.Number("99999999999999999999999"), []any{}, map[string]any{}, []any{"x"}, map[string]any{"x": 1}} {
			ofKind := func(v any) string {
				switch v.(type) {
				case json.Number:
					return "number"
				case nil:
					return "null"
				}
				return reflect.TypeOf(v).Kind().String()
			}
			wrongKind := ofKind(v) != ofKind(l.value) && !(v == nil && slices.Contains(nullable, l.path))
			l.set(v)
			try(l, fmt.Sprintf("= %v", v), wrongKind)
			l.set(l.value)
		}
	}
	t.Logf("%d changes, %d refused", n, refused)
	for path, v := range map[string]any{
		"/time": "2026-02-30T00:00:00Z", "/device/kind": "tpu", "/measured/regime": "hot", "/match/grade": "good",
		"/stencil/hash": "xyz", "/kernel/entry": "main;", "/problem/steps": json.Number("0"), "/device/compute_capability": "nine",
		"/tool/name": "a\nb", "/problem/steps ": json.Number("1.5"), "/search/seed": json.Number("18446744073709551616"),
	} {
		for _, l := range leaves(doc, "") {
			if l.path == strings.TrimSpace(path) {
				l.set(v)
				data, err := json.Marshal(doc)
				must(t, err)
				if _, err := Decode(data); err == nil || !strings.Contains(err.Error(), "'"+l.path+"'") {
					t.Errorf("%s = %v: %v", l.path, v, err)
				}
				l.set(l.value)
			}
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	good := string(encode(t, testConfig()))
	deep := strings.Replace(good, "{\n", `{"deep": `+strings.Repeat("[", 40)+strings.Repeat("]", 40)+",\n", 1)
	for name, c := range map[string]struct{ doc, want string }{
		"nothing":         {"", "config:1:1"},
		"blank":           {"  \n ", "unexpected end"},
		"cut":             {good[:len(good)/2], "unexpected end"},
		"tail":            {good + "x", "invalid character"},
		"two":             {good + good, "invalid character"},
		"comma":           {strings.Replace(good, "\n}", ",\n}", 1), "config:"},
		"array":           {"[1, 2]", "at ''"},
		"null":            {"null", "at ''"},
		"NaN":             {strings.Replace(good, "2.2", "NaN", 1), "invalid character 'N'"},
		"1e999":           {strings.Replace(good, "2.2", "1e999", 1), "'/speedup': the number 1e999 is out of range"},
		"1e-999999999":    {strings.Replace(good, "2.2", "1e-999999999", 1), "'/speedup'"},
		"1e999999999":     {strings.Replace(good, "2.2", "1e999999999", 1), "'/speedup'"},
		"many digits":     {strings.Replace(good, "2.2", "2."+strings.Repeat("2", 1<<20), 1), "'/speedup'"},
		"twice":           {strings.Replace(good, "{\n", "{\n\"speedup\": 3,\n", 1), "'/speedup': the field is given twice"},
		"twice, escaped":  {strings.Replace(good, "{\n", "{\n\"sp\\u0065edup\": 3,\n", 1), "given twice"},
		"twice, nested":   {strings.Replace(good, `"sms"`, `"ecc": true, "sms"`, 1), "'/device/ecc'"},
		"twice, in array": {strings.Replace(good, `"against": "ref`, `"seed": 1, "against": "ref`, 1), "'/verification/checks/0/seed'"},
		"byte order mark": {"\xef\xbb\xbf" + good, "byte order mark"},
		"not UTF-8":       {strings.Replace(good, "jacobi3d", "jacobi\xff", 1), "UTF-8"},
		"a NUL":           {strings.Replace(good, "jacobi3d", "jacobi\x00", 1), "invalid character"},
		"deep":            {deep, "'/deep/0/0"},
		"very deep":       {strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), "depth"},
		"very deep, cut":  {strings.Repeat(`{"a":`, 100_000), "depth"},
		"large":           {good + strings.Repeat(" ", MaxConfig), "bytes, more than"},
		"other version":   {strings.Replace(good, "config/v1", "config/v2", 1), "'/format'"},
	} {
		t.Run(name, func(t *testing.T) {
			within(t, 5*time.Second, func() {
				_, err := Decode([]byte(c.doc))
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %s", err, c.want)
				}
				if err != nil && len(err.Error()) > 2000 {
					t.Errorf("an error of %d bytes", len(err.Error()))
				}
			})
		})
	}
}

// TestErrorsAreShort makes many and hostile errors.
func TestErrorsAreShort(t *testing.T) {
	data := `{"` + strings.Repeat(`\u001b[31m`, 100) + `": {"a": 1, "a": 2}}`
	_, err := Decode([]byte(data))
	if err == nil || len(err.Error()) > 1000 || strings.ContainsAny(err.Error(), "\x1b\n") {
		t.Errorf("%q", err)
	}
	if _, err := Decode([]byte("{}")); err == nil || !strings.Contains(err.Error(), "missing properties") {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	good := encode(f, testConfig())
	f.Add(good)
	f.Add(bytes.Replace(good, []byte("{\n"), []byte("{\n\"x\": [1e-300, {\"\\u2028\": null}],\n"), 1))
	f.Add([]byte(`{"format": "stenciltune.config/v1", "format": 1}`))
	f.Add([]byte(`[[[[[[]]]]]]`))
	f.Add([]byte(`{"a": 1e400}`))
	f.Add([]byte("\xef\xbb\xbf{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Decode(data)
		if err != nil {
			return
		}
		out, err := Encode(c)
		if err != nil {
			t.Fatalf("taken, and not written: %v", err)
		}
		again, err := Decode(out)
		if err != nil {
			t.Fatalf("written, and not taken: %v", err)
		}
		if twice := encode(t, again); !bytes.Equal(out, twice) {
			t.Fatalf("other bytes the second time:\n%s\n%s", out, twice)
		}
	})
}
