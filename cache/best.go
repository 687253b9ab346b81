package cache

import (
	"fmt"
	"slices"

	"go.etcd.io/bbolt"
)

// Stored is a best config and the key it is stored under.
type Stored struct {
	Key    Key    `json:"key"`
	Config Config `json:"config"`
}

// PutBest stores the best config of a key, in place of the one before.
func (s *Store) PutBest(key Key, c Config) error {
	data, err := Encode(c)
	if err != nil {
		return err
	}
	text := key.String()
	sealed, err := seal(place("best", text, ""), data)
	if err != nil {
		return err
	}
	return s.update(oneBest(text), func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketBest).Put([]byte(text), sealed)
	})
}

// Best finds the config that fits a key best: its own if there is one, else the
// nearest, in the order of the grades; among equal grades the nearest compute
// capability, memory, class of steps, size (by aspect and volume), driver, and
// at last the smallest text of the key, so the answer does not depend on the
// order of writing. The config's Match says how well it fits and what it was
// tuned for. With false there is none.
func (s *Store) Best(key Key) (Config, Grade, bool, error) {
	if c, ok, err := s.own(key); ok || err != nil {
		return c, Exact, ok, err
	}
	all, err := s.candidates(key)
	if err != nil {
		return Config{}, None, false, err
	}
	for _, c := range all {
		config, err := s.decode(c)
		if err != nil {
			continue // counted as damaged
		}
		grade := key.Match(c.key)
		config.Match = MatchInfo{Grade: grade}
		if grade != Exact {
			config.Match.Note = c.key.TunedFor()
		}
		return config, grade, true, nil
	}
	return Config{}, None, false, nil
}

// oneBest is what an operation touches that looks at one best config.
func oneBest(text string) *part {
	return touch(map[string]*part{string(bucketBest): {in: map[string]*part{text: nil}}})
}

// own is the sound config of a key itself.
func (s *Store) own(key Key) (Config, bool, error) {
	c := candidate{key: key, text: key.String()}
	err := s.view(oneBest(c.text), func(tx *bbolt.Tx) error {
		c.value = slices.Clone(tx.Bucket(bucketBest).Get([]byte(c.text)))
		return nil
	})
	if err != nil || c.value == nil {
		return Config{}, false, err
	}
	config, err := s.decode(c)
	if err != nil {
		return Config{}, false, nil // counted as damaged
	}
	config.Match = MatchInfo{Grade: Exact}
	return config, true, nil
}

// Fitting are the sound configs that are of use for a key, best first, in the order
// of Best.
func (s *Store) Fitting(key Key) ([]Stored, error) {
	all, err := s.candidates(key)
	if err != nil {
		return nil, err
	}
	return s.decodeAll(all), nil
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
	all, err := s.bests()
	if err != nil {
		return nil, err
	}
	return s.decodeAll(all), nil
}

// decodeAll gives the sound ones of candidates.
func (s *Store) decodeAll(all []candidate) []Stored {
	stored := make([]Stored, 0, len(all))
	for _, c := range all {
		if config, err := s.decode(c); err == nil {
			stored = append(stored, Stored{c.key, config})
		}
	}
	return stored
}

// ForgetBest drops the best config of a key.
func (s *Store) ForgetBest(key Key) error {
	return s.update(oneBest(key.String()), func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketBest).Delete([]byte(key.String()))
	})
}

// candidate is a best config not yet decoded.
type candidate struct {
	key   Key
	text  string
	value []byte
}

// candidates are the configs of use for a key, best first.
func (s *Store) candidates(key Key) ([]candidate, error) {
	all, err := s.bests()
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(c candidate) bool { return key.Match(c.key) == None })
	slices.SortFunc(all, func(a, b candidate) int { return key.nearer(a.key, b.key) })
	return all, nil
}

// bests reads all best configs.
func (s *Store) bests() ([]candidate, error) {
	var records []raw
	err := s.view(touch(map[string]*part{string(bucketBest): whole}), func(tx *bbolt.Tx) error {
		records = collect(tx.Bucket(bucketBest))
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := make([]candidate, 0, len(records))
	for _, r := range records {
		text := string(r.name)
		k, err := ParseKey(text)
		if err != nil {
			s.spoilt(place("best", text, ""))
			continue
		}
		all = append(all, candidate{k, text, r.value})
	}
	return all, nil
}

// decode gives the config of a candidate, or counts it as damaged.
func (s *Store) decode(c candidate) (Config, error) {
	at := place("best", c.text, "")
	payload, err := unseal(at, c.value)
	if err == nil {
		var config Config
		if config, err = Decode(payload); err == nil {
			return config, nil
		}
	}
	s.spoilt(at)
	return Config{}, err
}
