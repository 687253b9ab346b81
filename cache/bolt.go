package cache

import (
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

// The buckets. Journal and intents hold a bucket for each key; rates and running were not
// thought of when the first stores were made, so those lack them until one is put.
var (
	bucketStore = []byte("store") // "format", "generation"
	always      = []string{partJournal, partIntents, partBest}
)

// boltFile is an engine on a file of bbolt's. It holds nothing open between operations.
type boltFile struct {
	file   string
	wait   func() time.Duration // for another process
	health *health

	mu         sync.Mutex
	generation uint64 // highest seen
}

// newBoltFile looks at a path without opening, locking or creating the file: that is left to
// the operations, and the first write creates it.
func newBoltFile(path string, wait func() time.Duration, h *health) (*boltFile, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, classify(path, "find", err)
	}
	s := &boltFile{file: abs, wait: wait, health: h}
	if _, err := s.stat(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return s, nil
}

func (s *boltFile) path() string { return s.file }

func (s *boltFile) writable() error {
	return s.do(true, bucketsAlone, func(*bbolt.DB) error { return nil })
}

// read copies records, which die with the transaction: decoding them can wait until the file
// is closed.
func (s *boltFile) read(at ...spot) (all []record, err error) {
	if len(at) == 0 {
		return nil, nil
	}
	err = s.view(touched(at), func(tx *bbolt.Tx) error {
		for _, at := range at {
			b := bucketOf(tx, at)
			switch name := at.inBucket(); {
			case b == nil:
			case name != "":
				if v := b.Get([]byte(name)); v != nil {
					all = append(all, record{at, copied(v)})
				}
			default:
				c := b.Cursor()
				for k, v := c.First(); k != nil; k, v = c.Next() {
					if v != nil { // not a bucket
						all = append(all, record{spot{at.part, at.key, string(k)}, copied(v)})
					}
				}
			}
		}
		return nil
	})
	return all, err
}

func (s *boltFile) keys(of, prefix string) (keys []string, err error) {
	below := whole
	if nested(of) {
		below = &part{all: true}
	}
	err = s.view(touch(map[string]*part{of: below}), func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(of))
		if b == nil {
			return nil
		}
		c := b.Cursor()
		for k, _ := c.Seek([]byte(prefix)); k != nil && strings.HasPrefix(string(k), prefix); k, _ = c.Next() {
			keys = append(keys, string(k))
		}
		return nil
	})
	return keys, err
}

func (s *boltFile) update(at []spot, fn func(transaction) error) error {
	w := touched(at)
	if slices.ContainsFunc(at, func(at spot) bool { return at.inBucket() == "" }) {
		w = whole // a bucket that is dropped gives back all its pages
	}
	return s.transact(w, func(tx *bbolt.Tx) error {
		t := &boltTx{tx: tx}
		return errors.Join(fn(t), t.err)
	})
}

// inspect proves every page.
func (s *boltFile) inspect(r *Report) error {
	info, err := s.stat()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	r.Exists, r.Bytes = true, info.Size()
	err = s.view(whole, func(*bbolt.Tx) error { return nil })
	s.mu.Lock()
	r.Generation = s.generation
	s.mu.Unlock()
	return err
}

// inBucket is the name of a record within its bucket, "" for all of them.
func (at spot) inBucket() string {
	if nested(at.part) {
		return at.name
	}
	return at.key
}

// bucketOf is the bucket that a record lies in, nil if there is none.
func bucketOf(tx *bbolt.Tx, at spot) *bbolt.Bucket {
	b := tx.Bucket([]byte(at.part))
	if b != nil && nested(at.part) {
		b = b.Bucket([]byte(at.key))
	}
	return b
}

// boltTx is a writing transaction; err is the first that was met.
type boltTx struct {
	tx  *bbolt.Tx
	err error
}

// now is this machine's clock, as for all who can open the file.
func (t *boltTx) now() time.Time { return time.Now() }

func (s *boltFile) now() (time.Time, error) { return time.Now(), nil }

func (t *boltTx) get(at spot) []byte {
	if b := bucketOf(t.tx, at); b != nil {
		return b.Get([]byte(at.inBucket()))
	}
	return nil
}

func (t *boltTx) put(at spot, value []byte) {
	b, err := t.tx.CreateBucketIfNotExists([]byte(at.part))
	if err == nil && nested(at.part) {
		b, err = b.CreateBucketIfNotExists([]byte(at.key))
	}
	if err == nil {
		err = b.Put([]byte(at.inBucket()), value)
	}
	if t.err == nil {
		t.err = err
	}
}

func (t *boltTx) drop(at spot) {
	b, name := bucketOf(t.tx, at), at.inBucket()
	if b == nil {
		return
	}
	err := error(nil)
	if name != "" {
		err = b.Delete([]byte(name))
	} else {
		err = t.tx.Bucket([]byte(at.part)).DeleteBucket([]byte(at.key))
	}
	if t.err == nil {
		t.err = err
	}
}

// stat tells what is at the store's path: a file, fs.ErrNotExist in the chain if
// there is nothing yet, or what is wrong. It never opens anything, so that a
// FIFO or a device cannot stop it.
func (s *boltFile) stat() (fs.FileInfo, error) {
	info, err := os.Stat(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		switch link, err := os.Lstat(s.file); {
		case err != nil:
			return nil, fs.ErrNotExist
		case link.Mode()&fs.ModeSymlink != 0:
			return nil, notFile(s.file, "a symbolic link to nothing")
		}
		info, err = os.Stat(s.file) // another process has made it since
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, classify(s.file, "read", err)
	}
	if err := regular(s.file, info); err != nil {
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
func (s *boltFile) view(w *part, fn func(*bbolt.Tx) error) error {
	return s.do(false, w, func(db *bbolt.DB) error {
		return db.View(func(tx *bbolt.Tx) error {
			if err := s.recognise(tx); err != nil {
				return err
			}
			return fn(tx)
		})
	})
}

// transact runs fn in a writing transaction that touches a part of the file. It is on disk when it returns
// nil and has left no trace when it returns an error.
func (s *boltFile) transact(w *part, fn func(*bbolt.Tx) error) error {
	return s.do(true, w, func(db *bbolt.DB) error {
		next := uint64(0)
		err := db.Update(func(tx *bbolt.Tx) error {
			if err := s.recognise(tx); err != nil {
				return err
			}
			next = s.generation + 1
			if err := putOwn(tx, "generation", next); err != nil {
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
func (s *boltFile) do(write bool, w *part, fn func(*bbolt.DB) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	verb := "read"
	if write {
		verb = "write"
	}
	f, err := s.acquire(write)
	if err != nil {
		return classify(s.file, verb, err)
	}
	if f == nil {
		return nil
	}
	// Closing the file gives up its lock. bbolt closes it too, but not when it
	// panics; its mapping is then lost until the process ends, which is harmless.
	defer f.Close()
	return classify(s.file, verb, guard(func() error {
		if err := s.check(f, w); err != nil {
			return err
		}
		db, err := bbolt.Open(s.file, 0o600, &bbolt.Options{
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
func (s *boltFile) acquire(write bool) (*os.File, error) {
	deadline := time.Now().Add(s.wait())
	for tries := 0; ; tries++ {
		if tries > 1 && time.Now().After(deadline) {
			return nil, &Error{Kind: ErrUnwritable, Path: s.file, Detail: "it appears and disappears", Remedy: "see what else uses that file, or name another with --store or TUNE_STORE"}
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
		f, err := os.OpenFile(s.file, flags|syscall.O_NONBLOCK, 0)
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
func (s *boltFile) lock(f *os.File, before fs.FileInfo, write bool, deadline time.Time) (ready bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if err := regular(s.file, info); err != nil {
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
				Path:   s.file,
				Detail: "another process holds it" + holder(info),
				Remedy: "wait for it to end, or name another file with --store or TUNE_STORE",
			}
		}
		time.Sleep(min(pause, left))
	}
	now, err := os.Stat(s.file)
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
func (s *boltFile) create() error {
	if err := os.MkdirAll(filepath.Dir(s.file), 0o700); err != nil {
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
func (s *boltFile) replace(put func(from, to string) error) error {
	dir, base := filepath.Split(s.file)
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
	if err := put(f.Name(), s.file); err != nil {
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
	for _, name := range append([]string{string(bucketStore)}, always...) {
		if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
			return err
		}
	}
	return putOwn(tx, "format", storeFormat)
}

// putOwn stores what the file says of itself.
func putOwn(tx *bbolt.Tx, name string, value any) error {
	raw, err := sealJSON(place("store", "", name), value)
	if err != nil {
		return err
	}
	return tx.Bucket(bucketStore).Put([]byte(name), raw)
}

// own reads what the file says of itself.
func own(b *bbolt.Bucket, name string, value any) error {
	return unsealJSON(place("store", "", name), b.Get([]byte(name)), value)
}

// bucketsAlone is what every operation touches.
var bucketsAlone = touch(nil)

// touch is what an operation touches that looks at these parts of the buckets.
func touch(in map[string]*part) *part {
	w := &part{all: true, in: map[string]*part{string(bucketStore): whole}}
	maps.Copy(w.in, in)
	return w
}

// manySpots is how many of a bucket's records are checked one by one; of more, all are.
const manySpots = 64

// touched is what of the file an operation on these records may touch.
func touched(at []spot) *part {
	in := map[string]*part{}
	below := func(in map[string]*part, name string) map[string]*part {
		if in[name] == nil {
			in[name] = &part{in: map[string]*part{}}
		}
		return in[name].in
	}
	for _, at := range at {
		b := below(in, at.part)
		switch {
		case !nested(at.part), at.name == "":
			b[at.key] = whole
		default:
			below(b, at.key)[at.name] = whole
		}
	}
	for name, b := range in {
		for key, w := range b.in {
			if w != whole && len(w.in) > manySpots {
				b.in[key] = whole
			}
		}
		if len(b.in) > manySpots {
			in[name] = whole
		}
	}
	return touch(in)
}

// small is the size of a file, in bytes, below which each operation checks every page: a
// millisecond or two (BenchmarkCheckPages). In a larger one it checks those that it may touch.
var small = 4 << 20 // tests set it

// check proves the file's pages sound, each time anew. It runs under guard.
func (s *boltFile) check(f *os.File, w *part) error {
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
		return corrupt(s.file, "%v", err)
	}
	if lost {
		s.health.lose()
		s.health.warn("store %s: one of its two meta pages is damaged; the last results written may be lost", s.file)
	}
	return nil
}

// recognise checks at the start of a transaction that the file is a store of a
// version we know, and that it did not go back in time since we last saw it.
func (s *boltFile) recognise(tx *bbolt.Tx) error {
	b := tx.Bucket(bucketStore)
	if b == nil {
		return corrupt(s.file, "it is a bbolt file of another program")
	}
	var format string
	switch err := own(b, "format", &format); {
	case err != nil:
		return corrupt(s.file, "its format is not readable")
	case format != storeFormat:
		e := corrupt(s.file, "its format is %.40q and this tool knows %q", format, storeFormat)
		e.Remedy = "use the version of the tool that wrote it, or name another file with --store or TUNE_STORE"
		return e
	}
	for _, name := range always {
		if tx.Bucket([]byte(name)) == nil {
			return corrupt(s.file, "its part %q is missing", name)
		}
	}
	var generation uint64
	if err := own(b, "generation", &generation); errors.Is(err, errDamaged) {
		s.health.spoilt(place("store", "", "generation"))
		return nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if generation < s.generation {
		s.health.warn("store %s: it went back from generation %d to %d: it was replaced, or lost its last results", s.file, s.generation, generation)
	}
	s.generation = max(s.generation, generation)
	return nil
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
