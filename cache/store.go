package cache

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	"golang.org/x/sys/unix"
)

// DefaultLockTimeout is how long an operation waits for another process.
const DefaultLockTimeout = 5 * time.Second

// storeFormat is the version of the store's layout.
const storeFormat = "stenciltune.store/v1"

// The buckets. Journal and intents hold a bucket for each key.
var (
	bucketStore   = []byte("store")   // "format", "generation"
	bucketJournal = []byte("journal") // key -> schedule and source hash -> Entry
	bucketIntents = []byte("intents") // key -> schedule -> Intent
	bucketBest    = []byte("best")    // key -> Config
)

// Store is the file in which results are kept. It holds nothing open between
// operations and may be used from many goroutines and many processes.
type Store struct {
	// LockTimeout is how long an operation waits for the file; 0 means
	// DefaultLockTimeout. Set it before the first operation.
	LockTimeout time.Duration

	path string

	mu         sync.Mutex
	generation uint64              // highest seen
	damaged    map[string]struct{} // places of damaged records
	warnings   []string
	lost       bool // a meta page
}

// DefaultPath is where the store lies unless the user names another file:
// $TUNE_STORE, else $XDG_DATA_HOME/tune/store.db, else
// ~/.local/share/tune/store.db. Relative values are refused: they would make a
// new store in every folder the tool is started from.
func DefaultPath() (string, error) {
	for _, v := range []struct{ name, below string }{
		{"TUNE_STORE", ""},
		{"XDG_DATA_HOME", "tune/store.db"},
		{"HOME", ".local/share/tune/store.db"},
	} {
		value := os.Getenv(v.name)
		if value == "" {
			continue
		}
		if !filepath.IsAbs(value) {
			return "", fmt.Errorf("%s=%q is not an absolute path: write it in full, or name the store with --store", v.name, value)
		}
		return filepath.Join(value, v.below), nil
	}
	return "", errors.New("no place for the store: none of TUNE_STORE, XDG_DATA_HOME and HOME is set; name the store with --store")
}

// Open looks at a path without opening, locking or creating the file: that is
// left to the operations, and the first write creates it. A path at which no
// store can be, such as a folder or a FIFO, is refused at once.
func Open(path string) (*Store, error) {
	if path == "" {
		return nil, errors.New("the store needs a path: name it with --store or TUNE_STORE")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, classify(path, "find", err)
	}
	s := &Store{path: abs, damaged: map[string]struct{}{}}
	if _, err := s.stat(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return s, nil
}

// Path is the store's file.
func (s *Store) Path() string { return s.path }

// Damaged is how many damaged records were met and skipped so far.
func (s *Store) Damaged() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.damaged)
}

// Sound tells whether nothing damaged was met so far.
func (s *Store) Sound() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.damaged) == 0 && !s.lost
}

// Warnings is what the user should know about the store's state so far, each
// thing once.
func (s *Store) Warnings() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := slices.Clone(s.warnings)
	if n := len(s.damaged); n > 0 {
		w = append(w, fmt.Sprintf("store %s: %d damaged records were skipped; what they held will be measured again", s.path, n))
	}
	return w
}

// Writable tells whether results can be stored, by creating the store if need be
// and opening it for writing: better before a search than after it.
func (s *Store) Writable() error {
	return s.do(true, bucketsAlone, func(*bbolt.DB) error { return nil })
}

// stat tells what is at the store's path: a file, fs.ErrNotExist in the chain if
// there is nothing yet, or what is wrong. It never opens anything, so that a
// FIFO or a device cannot stop it.
func (s *Store) stat() (fs.FileInfo, error) {
	info, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(s.path); err == nil {
			return nil, notFile(s.path, "a symbolic link to nothing")
		}
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, classify(s.path, "read", err)
	}
	if err := regular(s.path, info); err != nil {
		return nil, err
	}
	return info, nil
}

// regular tells why a file cannot be a store by its kind.
func regular(path string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return notFile(path, "a folder")
	case mode&fs.ModeNamedPipe != 0:
		return notFile(path, "a named pipe")
	case mode&fs.ModeSocket != 0:
		return notFile(path, "a socket")
	}
	return notFile(path, "a device")
}

// guard runs fn so that a panic, a bad address in a mapped file included, comes
// back as an error.
func guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = &crash{r}
		}
	}()
	return fn()
}

// view runs fn in a reading transaction that touches a part of the file. If there is no store yet, fn is not run.
func (s *Store) view(w *part, fn func(*bbolt.Tx) error) error {
	return s.do(false, w, func(db *bbolt.DB) error {
		return db.View(func(tx *bbolt.Tx) error {
			if err := s.inspect(tx); err != nil {
				return err
			}
			return fn(tx)
		})
	})
}

// update runs fn in a writing transaction that touches a part of the file. It is on disk when update returns
// nil and has left no trace when it returns an error.
func (s *Store) update(w *part, fn func(*bbolt.Tx) error) error {
	return s.do(true, w, func(db *bbolt.DB) error {
		next := uint64(0)
		err := db.Update(func(tx *bbolt.Tx) error {
			if err := s.inspect(tx); err != nil {
				return err
			}
			next = s.generation + 1
			if err := putJSON(tx.Bucket(bucketStore), place("store", "", "generation"), []byte("generation"), next); err != nil {
				return err
			}
			return fn(tx)
		})
		if err == nil {
			s.generation = next
		}
		return err
	})
}

// do opens the file, checks the part that fn touches, runs fn on it and closes it. Without a file,
// reading does nothing and writing creates one.
func (s *Store) do(write bool, w *part, fn func(*bbolt.DB) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	verb := "read"
	if write {
		verb = "write"
	}
	f, err := s.acquire(write)
	if err != nil {
		return classify(s.path, verb, err)
	}
	if f == nil {
		return nil
	}
	// Closing the file gives up its lock. bbolt closes it too, but not when it
	// panics; its mapping is then lost until the process ends, which is harmless.
	defer f.Close()
	return classify(s.path, verb, guard(func() error {
		if err := s.check(f, w); err != nil {
			return err
		}
		db, err := bbolt.Open(s.path, 0o600, &bbolt.Options{
			Timeout:      time.Second, // never waits: f holds the lock already
			ReadOnly:     !write,
			NoStatistics: true,
			OpenFile:     func(string, int, fs.FileMode) (*os.File, error) { return f, nil },
		})
		if err != nil {
			return err
		}
		return errors.Join(fn(db), db.Close())
	}))
}

// acquire opens and locks the file: for reading together with other readers,
// for writing alone. It gives nil if there is nothing to read. Whoever waited
// for the lock may hold a file that was moved aside meanwhile, and starts again.
func (s *Store) acquire(write bool) (*os.File, error) {
	timeout := s.LockTimeout
	if timeout <= 0 {
		timeout = DefaultLockTimeout
	}
	deadline := time.Now().Add(timeout)
	for tries := 0; ; tries++ {
		if tries > 1 && time.Now().After(deadline) {
			return nil, &Error{Kind: ErrUnwritable, Path: s.path, Detail: "it appears and disappears", Remedy: "see what else uses that file, or name another with --store or TUNE_STORE"}
		}
		before, err := s.stat()
		if errors.Is(err, fs.ErrNotExist) {
			if !write {
				return nil, nil
			}
			if err := s.create(); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		flags := os.O_RDONLY
		if write {
			flags = os.O_RDWR
		}
		f, err := os.OpenFile(s.path, flags|syscall.O_NONBLOCK, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		ready, err := s.lock(f, before, write, deadline)
		if ready {
			return f, nil
		}
		f.Close()
		if err != nil || !write && before.Size() == 0 {
			return nil, err
		}
	}
}

// lock locks an open file and makes sure that it still is the store. An empty
// file is replaced by a new store, never initialised in place: a power failure
// during bbolt's own initialisation can leave half a file.
func (s *Store) lock(f *os.File, before fs.FileInfo, write bool, deadline time.Time) (ready bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if err := regular(s.path, info); err != nil {
		return false, err
	}
	how := unix.LOCK_SH
	if write {
		how = unix.LOCK_EX
	}
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		if err == nil {
			break
		}
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return false, err
		}
		left := time.Until(deadline)
		if left <= 0 {
			return false, &Error{
				Kind:   ErrLocked,
				Path:   s.path,
				Detail: "another process holds it" + holder(info),
				Remedy: "wait for it to end, or name another file with --store or TUNE_STORE",
			}
		}
		time.Sleep(min(pause, left))
	}
	now, err := os.Stat(s.path)
	if err != nil || !os.SameFile(now, info) {
		return false, nil
	}
	if now.Size() > 0 {
		return true, nil
	}
	if before.Size() > 0 || !write {
		return false, nil
	}
	return false, s.replace(os.Rename)
}

// create makes the folder and the store.
func (s *Store) create() error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	return s.replace(func(from, to string) error {
		err := os.Link(from, to)
		switch {
		case err == nil, errors.Is(err, fs.ErrExist):
			return os.Remove(from) // another process was first: its store is as good
		case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOSYS):
			return os.Rename(from, to) // a file system without hard links
		}
		return err
	})
}

// replace makes a new store under another name in the same folder, and puts it
// in its place once it is safely on disk.
func (s *Store) replace(put func(from, to string) error) error {
	dir, base := filepath.Split(s.path)
	f, err := os.CreateTemp(dir, "."+base+".new-*") // mode 0600, and never an existing file
	if err != nil {
		return err
	}
	defer f.Close()
	defer os.Remove(f.Name())
	err = guard(func() error {
		db, err := bbolt.Open(f.Name(), 0o600, &bbolt.Options{
			Timeout:  time.Second,
			OpenFile: func(string, int, fs.FileMode) (*os.File, error) { return f, nil },
		})
		if err != nil {
			return err
		}
		return errors.Join(db.Update(initialise), db.Close())
	})
	if err != nil {
		return err
	}
	if err := put(f.Name(), s.path); err != nil {
		return err
	}
	return syncDir(dir)
}

// syncDir makes a rename in a folder last.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}

// initialise makes the buckets of a new store.
func initialise(tx *bbolt.Tx) error {
	for _, name := range [][]byte{bucketStore, bucketJournal, bucketIntents, bucketBest} {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	return putJSON(tx.Bucket(bucketStore), place("store", "", "format"), []byte("format"), storeFormat)
}

// bucketsAlone is what every operation touches.
var bucketsAlone = touch(nil)

// touch is what an operation touches that looks at these parts of the buckets.
func touch(in map[string]*part) *part {
	w := &part{all: true, in: map[string]*part{string(bucketStore): whole}}
	maps.Copy(w.in, in)
	return w
}

// records is the records of these names of a key.
func (k Key) records(names ...string) *part {
	w := &part{in: map[string]*part{}}
	for _, n := range names {
		w.in[n] = nil
	}
	return &part{in: map[string]*part{k.String(): w}}
}

// small is the size of a file, in bytes, below which each operation checks every page: a
// millisecond or two (BenchmarkCheckPages). In a larger one it checks those that it may touch.
var small = 4 << 20 // tests set it

// check proves the file's pages sound, each time anew. It runs under guard.
func (s *Store) check(f *os.File, w *part) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	defer unix.Munmap(data)
	if len(data) < small {
		w = whole
	}
	lost, err := checkPages(data, w)
	if err != nil {
		return corrupt(s.path, "%v", err)
	}
	if lost {
		s.lost = true
		s.warn("store %s: one of its two meta pages is damaged; the last results written may be lost", s.path)
	}
	return nil
}

// warn adds a warning unless it was given before.
func (s *Store) warn(format string, args ...any) {
	if w := fmt.Sprintf(format, args...); !slices.Contains(s.warnings, w) {
		s.warnings = append(s.warnings, w)
	}
}

// inspect checks at the start of a transaction that the file is a store of a
// version we know, and that it did not go back in time since we last saw it.
func (s *Store) inspect(tx *bbolt.Tx) error {
	b := tx.Bucket(bucketStore)
	if b == nil {
		return corrupt(s.path, "it is a bbolt file of another program")
	}
	var format string
	switch err := getJSON(b, place("store", "", "format"), []byte("format"), &format); {
	case err != nil:
		return corrupt(s.path, "its format is not readable")
	case format != storeFormat:
		e := corrupt(s.path, "its format is %.40q and this tool knows %q", format, storeFormat)
		e.Remedy = "use the version of the tool that wrote it, or name another file with --store or TUNE_STORE"
		return e
	}
	for _, name := range [][]byte{bucketJournal, bucketIntents, bucketBest} {
		if tx.Bucket(name) == nil {
			return corrupt(s.path, "its part %q is missing", name)
		}
	}
	var generation uint64
	if err := getJSON(b, place("store", "", "generation"), []byte("generation"), &generation); errors.Is(err, errDamaged) {
		s.damaged[place("store", "", "generation")] = struct{}{}
		return nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if generation < s.generation {
		s.warn("store %s: it went back from generation %d to %d: it was replaced, or lost its last results", s.path, s.generation, generation)
	}
	s.generation = max(s.generation, generation)
	return nil
}

// putJSON stores a value as a record.
func putJSON(b *bbolt.Bucket, place string, key []byte, value any) error {
	payload, err := json.Marshal(value)
	if err != nil {
		return err
	}
	raw, err := seal(place, payload)
	if err != nil {
		return err
	}
	return b.Put(key, raw)
}

// getJSON reads a record: errDamaged if it is none, fs.ErrNotExist if there is none.
func getJSON(b *bbolt.Bucket, place string, key []byte, value any) error {
	raw := b.Get(key)
	if raw == nil {
		return fs.ErrNotExist
	}
	payload, err := unseal(place, raw)
	if err == nil && json.Unmarshal(payload, value) != nil {
		err = errDamaged
	}
	return err
}

// holder names the process that holds the lock of a file, as far as the system
// tells: " (process 123)".
func holder(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	table, err := os.ReadFile("/proc/locks") // Linux; see proc_locks(5)
	if err != nil {
		return ""
	}
	dev := uint64(st.Dev) // 32 bits on other systems
	file := fmt.Sprintf("%02x:%02x:%d", unix.Major(dev), unix.Minor(dev), st.Ino)
	var pids []string
	for line := range strings.Lines(string(table)) {
		// 1: FLOCK  ADVISORY  WRITE 4711 fe:00:135792 0 EOF
		f := strings.Fields(line)
		if len(f) >= 6 && f[1] == "FLOCK" && f[5] == file && f[4] != "0" && !strings.HasPrefix(f[4], "-") {
			pids = append(pids, f[4])
		}
	}
	switch len(pids) {
	case 0:
		return ""
	case 1:
		return " (process " + pids[0] + ")"
	}
	return " (processes " + strings.Join(pids, ", ") + ")"
}
