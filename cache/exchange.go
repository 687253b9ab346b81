package cache

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"stenciltune/timing"
)

// ExchangeFormat is the format of the lines that Export writes and Import reads: one
// JSON document a line, {"format": ..., "key": ..., "config": {...}} or with "entry" in
// place of "config". Import also takes plain configs, as tune prints them.
const ExchangeFormat = "stenciltune.store/v1"

// line is one record on its way between stores.
type line struct {
	Format string          `json:"format"`
	Key    Key             `json:"key"`
	Config json.RawMessage `json:"config,omitempty"`
	Entry  json.RawMessage `json:"entry,omitempty"`
}

// KeyOf is the key that a config belongs under.
func KeyOf(c Config) Key {
	sizes := make([]string, len(c.Problem.Size))
	for i, n := range c.Problem.Size {
		sizes[i] = strconv.Itoa(n)
	}
	return Key{
		StencilHash: c.Stencil.Hash, DType: c.Stencil.DType, Boundary: c.Stencil.Boundary, Size: strings.Join(sizes, "x"),
		StepsClass: StepsClass(c.Problem.Steps), Regime: string(c.Measured.Regime),
	}.On(c.Machine()).For(c.Objective)
}

// importable tells why a config cannot be stored as what is known of its problem.
func importable(c Config) error {
	switch {
	case c.Match.Grade != Exact || c.Expected != nil:
		return errors.New("it was not measured on its own problem (match " + c.Match.Grade.String() + ")")
	case !c.Search.Complete:
		return errors.New("its tune did not finish")
	case !timing.Plausible(c.Measured.SecondsPerStep):
		return errors.New("it holds no measured time")
	}
	return nil
}

// newer orders two configs of one key by which is to be kept, the better last: the later
// time, then the shorter seconds per step, then the bytes. It is a total order, so that
// merging gives the same store whatever the order of merging.
func newer(a, b Config) int {
	order := cmp.Or(a.Time.Compare(b.Time), -cmp.Compare(a.Measured.SecondsPerStep, b.Measured.SecondsPerStep))
	if order != 0 {
		return order
	}
	x, errA := Encode(a)
	y, errB := Encode(b)
	if errA != nil || errB != nil { // stored and read configs can be written
		panic("cache: a stored config cannot be written")
	}
	return bytes.Compare(x, y)
}

// newerEntry is newer for entries of the same schedule and source: the later time, then
// the bytes.
func newerEntry(a, b Entry) int {
	if order := a.At.Compare(b.At); order != 0 {
		return order
	}
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	if errA != nil || errB != nil {
		panic("cache: a stored entry cannot be written")
	}
	return bytes.Compare(x, y)
}

// Export writes every sound config that keep admits, and with journal the entries of
// the same problems too, in the order of their keys' texts: the same store, the same
// bytes.
func (s *Store) Export(w io.Writer, journal bool, keep func(Key) bool) error {
	b := bufio.NewWriter(w)
	put := func(l line) error {
		l.Format = ExchangeFormat
		data, err := json.Marshal(l)
		if err != nil {
			return err
		}
		_, err = b.Write(append(data, '\n'))
		return err
	}
	all, err := s.Bests()
	if err != nil {
		return err
	}
	for _, c := range all {
		if !keep(c.Key) {
			continue
		}
		data, err := c.Config.MarshalJSON()
		if err != nil {
			return err
		}
		if err := put(line{Key: c.Key, Config: data}); err != nil {
			return err
		}
	}
	if !journal {
		return b.Flush()
	}
	keys, err := s.Keys()
	if err != nil {
		return err
	}
	for _, k := range keys {
		if !keep(k) {
			continue
		}
		entries, err := s.Entries(k)
		if err != nil {
			return err
		}
		for _, e := range entries {
			data, err := json.Marshal(e)
			if err != nil {
				return err
			}
			if err := put(line{Key: k, Entry: data}); err != nil {
				return err
			}
		}
	}
	return b.Flush()
}

// maxLine is the longest document that is imported: a config and what stands around it.
const maxLine = MaxConfig + 1<<16

// Imported is what became of an import.
type Imported struct {
	Configs int      `json:"configs"` // taken
	Entries int      `json:"entries"` // taken
	Kept    int      `json:"kept"`    // what was there already was as good or better
	Refused []string `json:"refused"` // "line 3: why"
}

// batch is what one import brings, the best of each place.
type batch struct {
	configs map[Key]Config
	entries map[Key]map[string]Entry
}

func newBatch() batch { return batch{map[Key]Config{}, map[Key]map[string]Entry{}} }

// Import reads lines, or configs as tune prints them, from anywhere and takes those that are valid, of use, and better
// than what is stored: see newer. Lines that are refused are told and do not keep the
// others out. check, if not nil, may refuse a config for what the schema cannot see.
// All that is taken is written in one transaction.
func (s *Store) Import(r io.Reader, check func(Config) error) (Imported, error) {
	var done Imported
	got := newBatch()
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxLine)
	var open []byte // a document on many lines, so far
	begun, n := 0, 0
	for sc.Scan() {
		n++
		text := bytes.TrimSpace(sc.Bytes())
		if open != nil && bytes.HasPrefix(sc.Bytes(), []byte("{")) {
			done.Refused = append(done.Refused, unfinished(begun))
			open = nil
		}
		switch {
		case open != nil:
			open = append(append(open, sc.Bytes()...), '\n')
			if len(open) > maxLine {
				done.Refused = append(done.Refused, fmt.Sprintf("line %d: a document of more than %d bytes; nothing after it was read", begun, maxLine))
				return done, s.take(got, &done)
			}
			if !bytes.Equal(sc.Bytes(), []byte("}")) {
				continue
			}
			text, open = open, nil
		case len(text) == 0:
			continue
		case bytes.Equal(sc.Bytes(), []byte("{")):
			open, begun = []byte("{\n"), n
			continue
		default:
			begun = n
		}
		if err := got.read(text, check, &done); err != nil {
			done.Refused = append(done.Refused, fmt.Sprintf("line %d: %v", begun, err))
		}
	}
	if open != nil {
		done.Refused = append(done.Refused, unfinished(begun))
	}
	switch err := sc.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		done.Refused = append(done.Refused, fmt.Sprintf("line %d: more than %d bytes, as no store writes; nothing after it was read", n+1, maxLine))
	case err != nil:
		return done, err
	}
	return done, s.take(got, &done)
}

func unfinished(line int) string {
	return fmt.Sprintf("line %d: the document that begins here does not end", line)
}

// read takes one line into the batch.
func (b *batch) read(text []byte, check func(Config) error, done *Imported) error {
	if err := scan(text); err != nil {
		return err
	}
	var probe struct{ Format string }
	if err := json.Unmarshal(text, &probe); err != nil {
		return errors.New("is no JSON object")
	}
	l := line{Config: text}
	switch probe.Format {
	case ConfigFormat:
	case ExchangeFormat:
		l = line{}
		d := json.NewDecoder(bytes.NewReader(text))
		if err := d.Decode(&l); err != nil {
			return fmt.Errorf("%s", printable(err.Error()))
		}
	default:
		return fmt.Errorf("its format is %.40q; want %q or %q", printable(probe.Format), ExchangeFormat, ConfigFormat)
	}
	switch {
	case l.Config != nil:
		c, err := Decode(l.Config)
		if err != nil {
			return err
		}
		if err := importable(c); err != nil {
			return err
		}
		key := KeyOf(c)
		if probe.Format == ExchangeFormat && key != l.Key {
			return fmt.Errorf("its key is not that of its config, %s", key)
		}
		if check != nil {
			if err := check(c); err != nil {
				return err
			}
		}
		if had, ok := b.configs[key]; !ok || newer(had, c) < 0 {
			b.configs[key] = c
		} else {
			done.Kept++
		}
	case l.Entry != nil:
		switch {
		case l.Key == (Key{}):
			return errors.New("its entry has no key")
		case l.Key.unclean(): // under which nobody would find it
			return errors.New("its key has control characters")
		}
		var e Entry
		if err := json.Unmarshal(l.Entry, &e); err != nil {
			return fmt.Errorf("its entry: %s", printable(err.Error()))
		}
		if e = e.normal(); e.At.IsZero() {
			return errors.New("its entry has no time at which it was made")
		}
		if err := e.valid(); err != nil {
			return err
		}
		if err := e.possible(); err != nil {
			return fmt.Errorf("its entry %w", err)
		}
		e.Series.Summary = timing.Summarise(e.Series.Samples) // not what the line claims
		at := b.entries[l.Key]
		if at == nil {
			at = map[string]Entry{}
			b.entries[l.Key] = at
		}
		if had, ok := at[entryName(e)]; !ok || newerEntry(had, e) < 0 {
			at[entryName(e)] = e
		} else {
			done.Kept++
		}
	default:
		return errors.New("holds neither a config nor an entry")
	}
	return nil
}

// take writes what is better than what is stored.
func (s *Store) take(got batch, done *Imported) error {
	var at []spot
	for key := range got.configs {
		at = append(at, bestAt(key))
	}
	lists := map[string][]Entry{}
	for key, entries := range got.entries {
		text := key.String()
		lists[text] = slices.Collect(maps.Values(entries))
		for _, e := range lists[text] {
			at = append(at, entryAt(text, e))
		}
	}
	if len(at) == 0 {
		return nil
	}
	before := *done
	return s.engine.update(at, func(tx transaction) error {
		*done = before
		for key, c := range got.configs {
			at := bestAt(key)
			if raw := tx.get(at); raw != nil {
				if had, ok := s.config(record{at, raw}); ok && newer(had, c) >= 0 {
					done.Kept++
					continue
				}
			}
			raw, err := sealConfig(key, c)
			if err != nil {
				return err
			}
			tx.put(at, raw)
			done.Configs++
		}
		for text, list := range lists {
			for _, e := range list {
				at := entryAt(text, e)
				if raw := tx.get(at); raw != nil {
					if had, ok := s.entry(record{at, raw}); ok && newerEntry(had, e) >= 0 {
						done.Kept++
						continue
					}
				}
				// What was begun here stays noted: it may be under way, and what has taken the program down twice may do so again.
				if err := enter(tx, text, e); err != nil {
					return err
				}
				done.Entries++
			}
		}
		return nil
	})
}
