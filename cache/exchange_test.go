package cache

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// storedConfig is the i-th of some configs, on a key of its own for each problem.
func storedConfig(i, problem int) Config {
	c := testConfig()
	c.Problem.Size = []int{64 * (problem + 1), 512, 512}
	c.Time = c.Time.Add(time.Duration(i/3) * time.Hour)
	c.Measured.SecondsPerStep = 1e-4 * float64(1+i%5)
	c.Tool.Revision = fmt.Sprint(i)
	return c
}

func everything(Key) bool { return true }

func exported(t *testing.T, s *Store) string {
	t.Helper()
	var b bytes.Buffer
	must(t, s.Export(&b, true, everything))
	return b.String()
}

func TestExportAndImportKeepEverything(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) {
		a := fresh()
		for i := range 4 {
			c := storedConfig(i, i)
			line, err := c.MarshalJSON()
			must(t, err)
			line = append(line[:len(line)-1], []byte(`,"later":{"x":[1,2.50]},"also":null}`)...)
			c, err = Decode(line)
			must(t, err)
			key := KeyOf(c)
			must(t, a.PutBest(key, c))
			must(t, a.Record(key, testEntry(i), testEntry(i+1)))
		}
		text := exported(t, a)
		if n := strings.Count(text, `"later":{"x":[1,2.50]}`); n != 4 {
			t.Errorf("%d of 4 unknown fields were exported", n)
		}
		b := fresh()
		done, err := b.Import(strings.NewReader(text), nil)
		must(t, err)
		if done.Configs != 4 || done.Entries != 8 || done.Kept != 0 || done.Refused != nil {
			t.Errorf("%+v", done)
		}
		if again := exported(t, b); again != text {
			t.Errorf("another store exports other bytes:\n%s\n%s", text, again)
		}
		if done, err := b.Import(strings.NewReader(text), nil); err != nil || done.Configs != 0 || done.Kept != 12 {
			t.Errorf("%v %+v", err, done)
		}
		// A config as tune prints it, on many lines.
		c := fresh()
		var documents []byte
		for i := range 2 {
			documents = append(documents, encode(t, storedConfig(i, i))...)
		}
		if done, err := c.Import(bytes.NewReader(documents), nil); err != nil || done.Configs != 2 {
			t.Errorf("%v %+v", err, done)
		}
	})
}

// An entry that is imported stays what it was, however its time is written, and whatever was begun here.
func TestAnImportChangesNoEntry(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) {
		key, e := testKey(1), testEntry(1)
		e.Attempts, e.Log = 0, strings.Repeat("x", MaxLog)
		from, to := fresh(), fresh()
		must(t, from.Record(key, e))
		text := exported(t, from)
		written := e.At.In(time.FixedZone("", 7200)).Format(time.RFC3339)
		foreign := strings.NewReplacer(e.At.Format(time.RFC3339), written, e.Log, e.Log+"yz").Replace(text)
		if !strings.Contains(foreign, written) || !strings.Contains(foreign, "xyz") {
			t.Fatalf("nothing was replaced in %s", text)
		}
		must(t, to.Begin(key, e.Schedule))
		if done, err := to.Import(strings.NewReader(text), nil); err != nil || done.Entries != 1 || exported(t, to) != text {
			t.Errorf("%v %+v\n%s\n%s", err, done, text, exported(t, to))
		}
		clipped := fresh()
		for i := range 2 {
			if done, err := clipped.Import(strings.NewReader(foreign), nil); err != nil || done.Entries != 1-i || done.Kept != i {
				t.Errorf("%v %+v the %d. time", err, done, i+1)
			}
		}
	})
}

// What is within the limits as it comes, and beyond them as it would be stored, is refused and keeps nothing else out.
func TestAnImportRefusesWhatCannotBeStored(t *testing.T) {
	config, err := storedConfig(0, 0).MarshalJSON()
	must(t, err)
	long := strings.TrimSuffix(string(config), "}") + `,"later":[` + strings.Repeat("1,", 900_000) + "1]}"
	e := testEntry(1)
	e.Series.Samples = slices.Repeat([]float64{1e5}, 600_000)
	entry, err := json.Marshal(e)
	must(t, err)
	samples := fmt.Sprintf(`{"format":%q,"key":%q,"entry":%s}`, ExchangeFormat, testKey(1), bytes.ReplaceAll(entry, []byte("100000,"), []byte("1e5,")))
	sound, err := storedConfig(1, 1).MarshalJSON()
	must(t, err)
	s := openTemp(t)
	done, err := s.Import(strings.NewReader(strings.Join([]string{long, long, samples, string(sound)}, "\n")), nil)
	must(t, err)
	if done.Configs != 1 || done.Entries != 0 || len(done.Refused) != 3 {
		t.Errorf("%+v", done)
	}
	for i, why := range []string{"line 1: config: 63", "line 2: config: 63", "line 3: journal entry of"} {
		if !strings.HasPrefix(done.Refused[i], why) || !strings.HasSuffix(done.Refused[i], "bytes, more than 4194304") {
			t.Errorf("%.200s", done.Refused[i])
		}
	}
}

// TestMergingInAnyOrderGivesTheSameStore deals records of few places out to stores,
// merges these in random orders and trees, and compares the bytes.
func TestMergingInAnyOrderGivesTheSameStore(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) {
		const seed = 42
		t.Logf("seed %d", seed)
		r := rand.New(rand.NewPCG(seed, 1))
		var parts []string
		for range 5 {
			s := fresh()
			for range 6 {
				c := storedConfig(r.IntN(12), r.IntN(3))
				must(t, s.PutBest(KeyOf(c), c))
				e := testEntry(r.IntN(3))
				e.At = e.At.Add(time.Duration(r.IntN(3)) * time.Hour)
				e.Registers = r.IntN(2)
				must(t, s.Record(KeyOf(c), e))
			}
			parts = append(parts, exported(t, s))
		}
		want := ""
		for range 6 {
			s := fresh()
			r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
			left := fresh() // two of them meet elsewhere first
			for i, p := range parts {
				to := s
				if i < 2 {
					to = left
				}
				if _, err := to.Import(strings.NewReader(p), nil); err != nil {
					t.Fatal(err)
				}
			}
			_, err := s.Import(strings.NewReader(exported(t, left)), nil)
			must(t, err)
			got := exported(t, s)
			if want == "" {
				want = got
			}
			if got != want {
				t.Fatalf("another order, another store:\n%s\n%s", want, got)
			}
		}
	})
}

func TestImportRefusesLineByLine(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) {
		good := testConfig()
		doc, err := good.MarshalJSON()
		must(t, err)
		key := KeyOf(good)
		quoted, err := json.Marshal(key)
		must(t, err)
		record := func(what, value string) string {
			return fmt.Sprintf(`{"format":%q,"key":%s,%q:%s}`, ExchangeFormat, quoted, what, value)
		}
		entry, err := json.Marshal(testEntry(1))
		must(t, err)
		change := func(change func(*Config)) string {
			c := testConfig()
			change(&c)
			b, err := c.MarshalJSON()
			must(t, err)
			return string(b)
		}
		for _, c := range []struct{ line, want string }{
			{`[]`, "no JSON object"},
			{`{"format":"other"}`, "its format is"},
			{`{"format":"` + ExchangeFormat + `"}`, "neither"},
			{record("nothing", "{}"), "neither"},
			{strings.Replace(record("config", string(doc)), "512x512x512", "513x512x512", 1), "key is not that"},
			{strings.Replace(string(doc), `"steps":100`, `"steps":0`, 1), "/problem/steps"},
			{change(func(c *Config) { c.Search.Complete = false }), "did not finish"},
			{change(func(c *Config) { c.Match.Grade = OtherSize }), "not measured"},
			{change(func(c *Config) { c.Measured.SecondsPerStep = 0 }), "no measured time"},
			{change(func(c *Config) { c.Tool.Version = "refuse me" }), "refused by check"},
			{record("entry", strings.Replace(string(entry), `"ok"`, `"fine"`, 1)), "status"},
			{record("entry", strings.Replace(string(entry), `"samples":[`, `"samples":[-1,`, 1)), "no time"},
			{record("entry", `{"schedule":"tile/gx=32","status":"ok","at":"2026-01-02T03:04:05Z"}`), "no samples"},
			{fmt.Sprintf(`{"format":%q,"entry":%s}`, ExchangeFormat, entry), "no key"},
			{strings.Replace(record("entry", string(entry)), "NVIDIA", `\\x1b[31m`, 1), "control characters"},
			{`{"format":"x","format":"y"}`, "given twice"},
			{"\xff", "UTF-8"},
			{"{\n\"format\": 1,\n", "does not end"},
		} {
			s := fresh()
			done, err := s.Import(strings.NewReader(c.line+"\n"+string(doc)+"\n"), func(c Config) error {
				if c.Tool.Version == "refuse me" {
					return fmt.Errorf("refused by check")
				}
				return nil
			})
			must(t, err)
			if len(done.Refused) != 1 || !strings.Contains(done.Refused[0], c.want) || !strings.HasPrefix(done.Refused[0], "line 1: ") {
				t.Errorf("%.60q: refused %q, want %q", c.line, done.Refused, c.want)
			}
			if done.Configs != 1 {
				t.Errorf("%.60q kept the good line out: %+v", c.line, done)
			}
		}
		for _, endless := range []string{strings.Repeat("x", maxLine+2), "{\n" + strings.Repeat(strings.Repeat("x", 1<<20)+"\n", 5)} {
			done, err := fresh().Import(strings.NewReader(string(doc)+"\n"+endless), nil)
			must(t, err)
			if done.Configs != 1 || len(done.Refused) != 1 || !strings.HasPrefix(done.Refused[0], "line 2: ") {
				t.Errorf("an endless line or document: %d configs, refused %q", done.Configs, done.Refused)
			}
		}
	})
}

// TestKeyOfAConfigIsItsKey holds KeyOf against a key made from the machine.
func TestKeyOfAConfigIsItsKey(t *testing.T) {
	k := testKey(7)
	c := testConfig()
	c.Stencil.Hash, c.Problem.Steps = k.StencilHash, 1000
	if got := KeyOf(c); got != k {
		t.Errorf("got %s\nwant %s", got, k)
	}
}

var flagMutations = flag.Int("mutations", 3000, "mutated documents to try")

// TestMutatedDocuments changes documents at random places, several at once, in
// values, names and structure, and demands that Decode refuses exactly what the schema
// refuses, schedules that contradict themselves apart.
func TestMutatedDocuments(t *testing.T) {
	n := *flagMutations
	if testing.Short() {
		n /= 4
	}
	const seed, shards = 20261121, 4
	t.Logf("seed %d", seed)
	for i := range shards {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			mutate(t, rand.New(rand.NewPCG(seed, uint64(i))), n/shards)
		})
	}
}

func mutate(t *testing.T, r *rand.Rand, n int) {
	source := encode(t, testConfig())
	values := []any{nil, true, false, "", "text", "a\nb", json.Number("0"), json.Number("-1"), json.Number("1e3"), json.Number("64.0"), json.Number("12.5e1"), json.Number("0.5"), json.Number("2147483648"),
		json.Number("1e308"), []any{}, []any{json.Number("1")}, map[string]any{}, "cuda", "exact", "2026-01-02T03:04:05Z", strings.Repeat("f", 64), strings.Repeat("x", 1001)}
	refused, taken := 0, 0
	for range n {
		var doc any
		d := json.NewDecoder(bytes.NewReader(source))
		d.UseNumber()
		must(t, d.Decode(&doc))
		touched := false
		for range 1 + r.IntN(3) {
			all := leaves(doc, "")
			l := all[r.IntN(len(all))]
			touched = touched || strings.Contains(l.path, "schedule/")
			switch r.IntN(5) {
			case 0:
				if l.erase != nil {
					l.erase()
				}
			case 1: // another value of the document
				other := all[r.IntN(len(all))]
				if !strings.HasPrefix(other.path, l.path) && !strings.HasPrefix(l.path, other.path) {
					copied, err := json.Marshal(other.value)
					must(t, err)
					var v any
					e := json.NewDecoder(bytes.NewReader(copied))
					e.UseNumber()
					must(t, e.Decode(&v))
					l.set(v)
				}
			case 2:
				if m, ok := l.value.(map[string]any); ok {
					m["unknown"+fmt.Sprint(r.IntN(3))] = values[r.IntN(len(values))]
				} else if top, ok := doc.(map[string]any); ok {
					top["later"] = values[r.IntN(len(values))]
				}
			default:
				l.set(values[r.IntN(len(values))])
			}
		}
		data, err := json.Marshal(doc)
		must(t, err)
		c, err := Decode(data)
		schema := validate(data)
		if (err == nil) != (schema == nil) && !touched {
			t.Fatalf("Decode says %v, the schema %v:\n%s", err, schema, data)
		}
		if err != nil {
			refused++
			continue
		}
		taken++
		// What is taken is written again, and reads the same.
		once, err := Encode(c)
		if err != nil {
			t.Fatalf("taken and not written: %v\n%s", err, data)
		}
		twice, err := Decode(once)
		must(t, err)
		if again := encode(t, twice); !bytes.Equal(once, again) {
			t.Fatalf("changed by a round trip:\n%s\n%s", once, again)
		}
	}
	t.Logf("%d refused, %d taken", refused, taken)
	if refused < n/10 || taken < n/50 {
		t.Errorf("%d refused and %d taken: the mutations prove little", refused, taken)
	}
}

// FuzzImport imports anything: it must not crash, and what it takes must be exportable
// and importable again.
func FuzzImport(f *testing.F) {
	doc, err := testConfig().MarshalJSON()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(doc)
	f.Add([]byte("{\n}\n"))
	f.Add([]byte(`{"format":"stenciltune.store/v1","key":"v1","entry":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := openTemp(t)
		done, err := s.Import(bytes.NewReader(data), nil)
		if err != nil {
			return
		}
		again, err := openTemp(t).Import(strings.NewReader(exported(t, s)), nil)
		if err != nil || again.Configs != done.Configs || again.Entries != done.Entries || again.Refused != nil {
			t.Errorf("%v %+v, then %+v", err, done, again)
		}
	})
}
