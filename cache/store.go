package cache

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// DefaultLockTimeout is how long an operation waits for another process.
const DefaultLockTimeout = 5 * time.Second

// storeFormat is the version of the store's layout.
const storeFormat = "stenciltune.store/v1"

// The parts of a store. Some hold many records for a key, each by a name of its own; the others
// hold one.
const (
	partJournal = "journal" // problem -> schedule and source hash -> Entry
	partIntents = "intents" // problem -> schedule -> Intent
	partWorkers = "workers" // problem -> worker -> Running
	partTrail   = "trail"   // problem -> "last" -> trail, and number -> step
	partBest    = "best"    // problem -> Config
	partRates   = "rates"   // device -> DeviceRates
)

// nested tells whether a part holds many records for a key.
func nested(part string) bool {
	return part == partJournal || part == partIntents || part == partWorkers || part == partTrail
}

// spot is where a record lies. Without a name it is, in a nested part, where all records of
// the key lie.
type spot struct{ part, key, name string }

// place is what a record's checksum says of where it lies.
func (at spot) place() string { return place(at.part, at.key, at.name) }

// record is a sealed value and where it lies.
type record struct {
	spot
	value []byte
}

// engine keeps records: in a file, or in a database. What they mean is the Store's business.
// Its errors are *Error. While there is no store yet, reading gives nothing.
type engine interface {
	// path names the store for the user, without secrets.
	path() string
	// writable makes the store if there is none, and tells whether it can be written to.
	writable() error
	// read gives the records at these places that exist, those of one place in the order of
	// their names.
	read(at ...spot) ([]record, error)
	// keys are those of a part that have records and begin with a prefix, in their order.
	keys(part, prefix string) ([]string, error)
	// update runs fn in a transaction that may read and write the records at these places and
	// no others. When update returns nil, what fn wrote will last; after an error nothing of
	// it is there, unless the error says that it is not known. Nobody else writes these
	// records meanwhile. fn may run more than once.
	update(at []spot, fn func(transaction) error) error
	// stamp is a text that differs after every write.
	stamp() (string, error)
	// now is the store's clock, which all who use it go by: those of their machines differ.
	now() (time.Time, error)
	// inspect proves what lies below the records, and reports size and generation.
	inspect(*Report) error
}

// transaction is what an update may do. It sees its own writes. What get gives dies with it.
type transaction interface {
	now() time.Time  // the store's clock, once nobody else writes these records
	get(spot) []byte // nil if there is none
	put(spot, []byte)
	drop(spot) // without a name: all records of the key
}

// health is what was found wrong with a store so far.
type health struct {
	mu       sync.Mutex
	damaged  map[string]struct{} // places of damaged records
	warnings []string
	lost     bool // some of its last writes
}

// spoilt counts a damaged record.
func (h *health) spoilt(place string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.damaged[place] = struct{}{}
}

// warn adds a warning unless it was given before.
func (h *health) warn(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w := fmt.Sprintf(format, args...); !slices.Contains(h.warnings, w) {
		h.warnings = append(h.warnings, w)
	}
}

// lose notes that the last writes may be lost.
func (h *health) lose() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost = true
}

// Store is where results are kept: a file, or a PostgreSQL or MariaDB database that many machines
// share. It may be used from many goroutines and many processes. A file is open during an
// operation only, a database's connection a few seconds longer.
type Store struct {
	// LockTimeout is how long an operation waits for another process or, once it was
	// reached, for the database; 0 means DefaultLockTimeout, and for a database
	// DefaultReconnect. Set it before the first operation.
	LockTimeout time.Duration

	engine engine
	health health
}

// DefaultPath is where the store lies unless the user names another: $TUNE_STORE, else
// $XDG_DATA_HOME/tune/store.db, else ~/.local/share/tune/store.db. Relative paths are
// refused: they would make a new store in every folder the tool is started from.
func DefaultPath() (string, error) {
	for _, v := range []struct{ name, below string }{
		{"TUNE_STORE", ""},
		{"XDG_DATA_HOME", "tune/store.db"},
		{"HOME", ".local/share/tune/store.db"},
	} {
		value := os.Getenv(v.name)
		switch {
		case value == "":
			continue
		case v.below == "" && IsURL(value):
			return value, nil
		case !filepath.IsAbs(value):
			return "", badName(fmt.Sprintf("%s=%q is not an absolute path: write it in full, or name the store with --store", v.name, value))
		}
		return filepath.Join(value, v.below), nil
	}
	return "", badName("no place for the store: none of TUNE_STORE, XDG_DATA_HOME and HOME is set; name the store with --store")
}

// Open looks at the name of a store, a file's path or a URL like
// postgres://user@host/database or mysql://user@host/database, without opening, locking or creating anything: that is left
// to the operations, and the first write creates it. A path at which no store can be, such as
// a folder or a FIFO, is refused at once, and so is a URL that is none.
func Open(name string) (*Store, error) {
	if name == "" {
		return nil, badName("the store needs a path: name it with --store or TUNE_STORE")
	}
	s := &Store{health: health{damaged: map[string]struct{}{}}}
	wait := func(otherwise time.Duration) func() time.Duration {
		return func() time.Duration {
			if s.LockTimeout > 0 {
				return s.LockTimeout
			}
			return otherwise
		}
	}
	var err error
	if IsURL(name) {
		s.engine, err = newDatabase(name, wait(DefaultReconnect))
	} else {
		s.engine, err = newBoltFile(name, wait(DefaultLockTimeout), &s.health)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Path is the store's file, or its database's URL without the password.
func (s *Store) Path() string { return s.engine.path() }

// Damaged is how many damaged records were met and skipped so far.
func (s *Store) Damaged() int {
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	return len(s.health.damaged)
}

// Sound tells whether nothing damaged was met so far.
func (s *Store) Sound() bool {
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	return len(s.health.damaged) == 0 && !s.health.lost
}

// Warnings is what the user should know about the store's state so far, each
// thing once.
func (s *Store) Warnings() []string {
	n := s.Damaged()
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	w := slices.Clone(s.health.warnings)
	if n > 0 {
		w = append(w, fmt.Sprintf("store %s: %d damaged records were skipped; what they held will be measured again", s.Path(), n))
	}
	return w
}

// Writable tells whether results can be stored, by creating the store if need be
// and opening it for writing: better before a search than after it.
func (s *Store) Writable() error { return s.engine.writable() }
