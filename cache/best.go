package cache

import (
	"fmt"
	"iter"
	"slices"
)

// Stored is a best config and the key it is stored under.
type Stored struct {
	Key    Key    `json:"key"`
	Config Config `json:"config"`
}

// bestAt is where the best config of a key lies.
func bestAt(key Key) spot { return spot{part: partBest, key: key.String()} }

// PutBest stores the best config of a key, in place of the one before, and of what tunes of the
// problem told that run no more.
func (s *Store) PutBest(key Key, c Config) error {
	raw, err := sealConfig(key, c)
	if err != nil {
		return err
	}
	told, err := s.engine.read(spot{part: partWorkers, key: key.Journal().String()})
	if err != nil {
		return err
	}
	at := []spot{bestAt(key)}
	for _, r := range told {
		at = append(at, r.spot)
	}
	return s.engine.update(at, func(tx transaction) error {
		tx.put(at[0], raw)
		for _, w := range at[1:] {
			var r Running
			if unsealJSON(w.place(), tx.get(w), &r) != nil || !r.aliveAt(tx.now()) {
				tx.drop(w)
			}
		}
		return nil
	})
}

// sealConfig makes a config a record.
func sealConfig(key Key, c Config) ([]byte, error) {
	data, err := Encode(c)
	if err != nil {
		return nil, err
	}
	return seal(bestAt(key).place(), data)
}

// put writes one record.
func (s *Store) put(at spot, raw []byte) error {
	return s.engine.update([]spot{at}, func(tx transaction) error {
		tx.put(at, raw)
		return nil
	})
}

// ForgetBest drops the best config of a key.
func (s *Store) ForgetBest(key Key) error {
	at := bestAt(key)
	return s.engine.update([]spot{at}, func(tx transaction) error {
		tx.drop(at)
		return nil
	})
}

// Best finds the config that fits a key best: the first of Fitting. The config's Match says
// how well it fits and what it was tuned for. With false there is none.
func (s *Store) Best(key Key) (Config, Grade, bool, error) {
	for found, err := range s.Fitting(key) {
		if err != nil {
			return Config{}, None, false, err
		}
		grade := key.Match(found.Key)
		found.Config.Match = MatchInfo{Grade: grade}
		if grade != Exact {
			found.Config.Match.Note = found.Key.TunedFor()
		}
		return found.Config, grade, true, nil
	}
	return Config{}, None, false, nil
}

// readAtOnce is how many configs Fitting reads at a time.
const readAtOnce = 16

// Fitting gives the sound configs that are of use for a key, best first: its own if there is
// one, then the nearest in the order of the grades; among equal grades the nearest compute
// capability, memory, class of steps, size (by aspect and volume), driver, and at last the
// smallest text of the key, so the order does not depend on that of writing. They are read as
// they are asked for. An error is the last that it gives.
func (s *Store) Fitting(key Key) iter.Seq2[Stored, error] {
	return func(yield func(Stored, error) bool) {
		give := func(keys []Key) bool {
			for c, err := range s.bests(keys) {
				if !yield(c, err) || err != nil {
					return false
				}
			}
			return true
		}
		if !give([]Key{key}) {
			return
		}
		keys, err := s.keys(partBest, key.stencil())
		if err != nil {
			yield(Stored{}, err)
			return
		}
		keys = slices.DeleteFunc(keys, func(k Key) bool { return k == key || key.Match(k) == None })
		slices.SortFunc(keys, key.Nearer)
		for some := range slices.Chunk(keys, readAtOnce) {
			if !give(some) {
				return
			}
		}
	}
}

// TunedFor says what a record of this key was tuned for, as a config's note.
func (k Key) TunedFor() string {
	note := fmt.Sprintf("tuned for size %s, steps %s, on %s", k.Size, k.StepsClass, k.DeviceName)
	if k.Driver != "" {
		note += ", driver " + k.Driver
	}
	if k.Compiler != "" {
		note += ", " + k.Compiler
	}
	return clip(note, maxNote)
}

// Bests are all sound best configs, in the order of their keys' texts.
func (s *Store) Bests() ([]Stored, error) {
	keys, err := s.keys(partBest, "")
	if err != nil {
		return nil, err
	}
	all := make([]Stored, 0, len(keys))
	for c, err := range s.bests(keys) {
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// bests gives the sound best configs of keys, in the order of the keys. They are read at once and
// decoded, which takes longer, as they are asked for.
func (s *Store) bests(keys []Key) iter.Seq2[Stored, error] {
	return func(yield func(Stored, error) bool) {
		at := make([]spot, len(keys))
		for i, k := range keys {
			at[i] = bestAt(k)
		}
		records, err := s.engine.read(at...)
		if err != nil {
			yield(Stored{}, err)
			return
		}
		for i := 0; len(records) > 0; i++ {
			if at[i].key != records[0].key {
				continue // it is not there any more
			}
			if config, ok := s.config(records[0]); ok && !yield(Stored{keys[i], config}, nil) {
				return
			}
			records = records[1:]
		}
	}
}

// config is that of a record, or the record is damaged.
func (s *Store) config(r record) (Config, bool) {
	c, err := configOf(r)
	if err != nil {
		s.health.spoilt(r.place())
	}
	return c, err == nil
}

// configOf reads a record. Whoever may write to a database may put a sound one that is of another problem, or of nothing
// that was measured: that is damage too.
func configOf(r record) (Config, error) {
	payload, err := unseal(r.place(), r.value)
	if err != nil {
		return Config{}, err
	}
	c, err := Decode(payload)
	if err == nil {
		err = importable(c)
	}
	if err == nil && KeyOf(c).String() != r.key {
		err = errDamaged
	}
	if err != nil {
		return Config{}, err
	}
	return c, nil
}
