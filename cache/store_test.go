package cache

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"
	"golang.org/x/sys/unix"
)

func TestDefaultPath(t *testing.T) {
	for _, c := range []struct{ store, xdg, home, want, wrong string }{
		{"/a/b.db", "/x", "/h", "/a/b.db", ""},
		{"", "/x", "/h", "/x/tune/store.db", ""},
		{"", "", "/h", "/h/.local/share/tune/store.db", ""},
		{"b.db", "/x", "/h", "", "TUNE_STORE"},
		{"", "x", "/h", "", "XDG_DATA_HOME"},
		{"", "", "h", "", "HOME"},
		{"", "", "", "", "--store"},
	} {
		t.Setenv("TUNE_STORE", c.store)
		t.Setenv("XDG_DATA_HOME", c.xdg)
		t.Setenv("HOME", c.home)
		got, err := DefaultPath()
		if got != c.want || (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}

func TestReadingMakesNothing(t *testing.T) {
	s := openTemp(t)
	entries, err := s.Entries(testKey(0))
	must(t, err)
	if len(entries) > 0 {
		t.Error("entries out of nothing")
	}
	if _, _, ok, err := s.Best(testKey(0)); ok || err != nil {
		t.Error(ok, err)
	}
	if r, err := s.Check(); err != nil || r.Exists {
		t.Error(r, err)
	}
	if _, err := os.Stat(filepath.Dir(s.Path())); !errors.Is(err, os.ErrNotExist) {
		t.Error("reading made a folder:", err)
	}
}

func TestModes(t *testing.T) {
	s := openTemp(t)
	must(t, s.Writable())
	for path, want := range map[string]os.FileMode{s.Path(): 0o600, filepath.Dir(s.Path()): 0o700} {
		info, err := os.Stat(path)
		must(t, err)
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode().Perm(), want)
		}
	}
	files, err := os.ReadDir(filepath.Dir(s.Path()))
	must(t, err)
	if len(files) != 1 {
		t.Errorf("files left: %v", files)
	}
}

func TestEmptyFileBecomesStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "empty.db")
	must(t, os.WriteFile(path, nil, 0o600))
	s := reopen(t, path)
	if e, err := s.Entries(testKey(0)); err != nil || len(e) > 0 {
		t.Fatal(e, err)
	}
	must(t, s.Record(testKey(0), testEntry(0)))
	if e, err := s.Entries(testKey(0)); err != nil || len(e) != 1 {
		t.Fatal(e, err)
	}
}

// within fails if fn takes long: nothing may hang.
func within(t *testing.T, d time.Duration, fn func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); fn() }()
	select {
	case <-done:
	case <-time.After(d):
		t.Fatal("hangs")
	}
}

func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must(t, os.Mkdir(at("folder"), 0o700))
	must(t, syscall.Mkfifo(at("fifo"), 0o600))
	must(t, os.Symlink(at("loop"), at("loop")))
	must(t, os.Symlink(at("nothing"), at("dangling")))
	must(t, os.WriteFile(at("file"), []byte("x"), 0o600))
	for _, c := range []struct {
		path string
		kind error
		want string
	}{
		{at("folder"), ErrCorrupt, "folder"},
		{at("fifo"), ErrCorrupt, "named pipe"},
		{at("loop"), ErrCorrupt, "loop"},
		{at("dangling"), ErrCorrupt, "link to nothing"},
		{"/dev/null", ErrCorrupt, "device"},
		{at("file/store.db"), ErrUnwritable, "not a directory"},
		{at(strings.Repeat("n", 300)), ErrUnwritable, "too long"},
	} {
		within(t, 2*time.Second, func() {
			s, err := Open(c.path)
			if err == nil {
				err = s.Writable()
			}
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.path) {
				t.Errorf("%s: %v", c.path, err)
			}
			var e *Error
			if !errors.As(err, &e) || e.Remedy == "" {
				t.Errorf("%s: no remedy in %v", c.path, err)
			}
		})
	}
	if _, err := Open(""); err == nil {
		t.Error("a store without a path")
	}
	// What became one after Open is found too.
	s := reopen(t, at("later"))
	must(t, syscall.Mkfifo(at("later"), 0o600))
	within(t, 2*time.Second, func() {
		if err := s.Record(testKey(0), testEntry(0)); !errors.Is(err, ErrCorrupt) {
			t.Error(err)
		}
	})
}

func TestForeignFiles(t *testing.T) {
	dir := t.TempDir()
	foreign := filepath.Join(dir, "foreign.db")
	db, err := bbolt.Open(foreign, 0o600, nil)
	must(t, err)
	must(t, db.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("other")); return err }))
	must(t, db.Close())

	future := filepath.Join(dir, "future.db")
	s := reopen(t, future)
	must(t, s.Writable())
	must(t, s.engine.(*boltFile).transact(whole, func(tx *bbolt.Tx) error { return putOwn(tx, "format", "stenciltune.store/v2") }))
	for path, want := range map[string]string{foreign: "another program", future: "stenciltune.store/v2"} {
		before, err := os.ReadFile(path)
		must(t, err)
		s := reopen(t, path)
		_, err = s.Entries(testKey(0))
		err = errors.Join(err, s.Record(testKey(0), testEntry(0)))
		if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
		after, err := os.ReadFile(path)
		must(t, err)
		if string(before) != string(after) {
			t.Errorf("%s was changed", path)
		}
	}
}

func TestLocked(t *testing.T) {
	s := openTemp(t)
	must(t, s.Record(testKey(0), testEntry(0)))
	s.LockTimeout = 150 * time.Millisecond
	f, err := os.Open(s.Path())
	must(t, err)
	defer f.Close()
	must(t, unix.Flock(int(f.Fd()), unix.LOCK_EX))
	start := time.Now()
	_, err = s.Entries(testKey(0))
	if took := time.Since(start); took < 100*time.Millisecond || took > 10*time.Second {
		t.Errorf("gave up after %v", took)
	}
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), s.Path()) {
		t.Fatal(err)
	}
	if locks, _ := os.ReadFile("/proc/locks"); strings.Contains(string(locks), fmt.Sprintf(" %d ", os.Getpid())) {
		if !strings.Contains(err.Error(), fmt.Sprintf("process %d", os.Getpid())) {
			t.Errorf("the holder is not named: %v", err)
		}
	}
	// Readers share; a writer waits for them.
	must(t, unix.Flock(int(f.Fd()), unix.LOCK_SH))
	if _, err := s.Entries(testKey(0)); err != nil {
		t.Error(err)
	}
	if err := s.Record(testKey(0), testEntry(1)); !errors.Is(err, ErrLocked) {
		t.Error(err)
	}
	// One who waits gets it in time.
	s.LockTimeout = 5 * time.Second
	var wg sync.WaitGroup
	wg.Go(func() {
		time.Sleep(100 * time.Millisecond)
		unix.Flock(int(f.Fd()), unix.LOCK_UN)
	})
	must(t, s.Record(testKey(0), testEntry(1)))
	wg.Wait()
}

func TestMovedAsideWhileWaiting(t *testing.T) {
	s := openTemp(t)
	must(t, s.Record(testKey(0), testEntry(0)))
	f, err := os.Open(s.Path())
	must(t, err)
	defer f.Close()
	must(t, unix.Flock(int(f.Fd()), unix.LOCK_EX))
	var wg sync.WaitGroup
	wg.Go(func() {
		time.Sleep(100 * time.Millisecond)
		os.Rename(s.Path(), s.Path()+".old")
		unix.Flock(int(f.Fd()), unix.LOCK_UN)
	})
	must(t, s.Record(testKey(0), testEntry(1)))
	wg.Wait()
	entries, err := s.Entries(testKey(0))
	must(t, err)
	if len(entries) != 1 || entries[0].Schedule != testEntry(1).Schedule {
		t.Errorf("%d entries in the new store", len(entries))
	}
}

// Another store may have come in the place of the one that was waited for.
func TestReplacedWhileWaiting(t *testing.T) {
	s, other := openTemp(t), openTemp(t)
	must(t, s.Record(testKey(0), testEntry(0)))
	must(t, other.Record(testKey(0), testEntry(1)))
	f, err := os.Open(s.Path())
	must(t, err)
	defer f.Close()
	must(t, unix.Flock(int(f.Fd()), unix.LOCK_EX))
	var wg sync.WaitGroup
	wg.Go(func() {
		time.Sleep(100 * time.Millisecond)
		os.Rename(s.Path(), s.Path()+".old")
		os.Rename(other.Path(), s.Path())
		unix.Flock(int(f.Fd()), unix.LOCK_UN)
	})
	must(t, s.Record(testKey(0), testEntry(2)))
	wg.Wait()
	for path, want := range map[string]int{s.Path(): 2, s.Path() + ".old": 1} {
		entries, err := reopen(t, path).Entries(testKey(0))
		must(t, err)
		if len(entries) != want {
			t.Errorf("%s: %d entries, want %d", path, len(entries), want)
		}
	}
}

func TestManyProcesses(t *testing.T) {
	for _, c := range []struct{ processes, each int }{{2, 30}, {10, 12}} { // beside this one
		onEach(t, func(t *testing.T, fresh func() *Store) {
			path, all := fresh().Path(), (c.processes+1)*c.each
			var wg sync.WaitGroup
			for i := range c.processes {
				wg.Go(func() {
					out, err := command("record", path, c.each*i, c.each*(i+1)).CombinedOutput()
					if err != nil || len(acknowledged(string(out))) != c.each {
						t.Errorf("%v: %s", err, out)
					}
				})
			}
			wg.Go(func() {
				s := reopen(t, path)
				for i := range c.each {
					if err := s.Record(testKey(0), testEntry(all-1-i)); err != nil {
						t.Error(err)
					}
					if _, err := s.Entries(testKey(0)); err != nil {
						t.Error(err)
					}
				}
			})
			wg.Wait()
			s := reopen(t, path)
			entries, err := s.Entries(testKey(0))
			must(t, err)
			if len(entries) != all {
				t.Errorf("%d entries of %d", len(entries), all)
			}
			if u, err := s.Unfinished(testKey(0)); err != nil || len(u) > 0 {
				t.Error(u, err)
			}
			if w := s.Warnings(); len(w) > 0 {
				t.Error(w)
			}
		})
	}
}

func TestManyGoroutines(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) {
		s := fresh()
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for j := range 10 {
					if err := s.Record(testKey(0), testEntry(10*i+j)); err != nil {
						t.Error(err)
					}
					if _, err := s.Entries(testKey(0)); err != nil {
						t.Error(err)
					}
					s.Warnings()
				}
			})
		}
		wg.Wait()
		if e, err := s.Entries(testKey(0)); err != nil || len(e) != 80 {
			t.Error(len(e), err)
		}
	})
}

func TestCheck(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) {
		s := fresh()
		for i := range 3 {
			must(t, s.Record(testKey(i), testEntry(0), testEntry(1)))
			must(t, s.PutBest(testKey(i), configAt(testKey(i))))
		}
		must(t, s.Begin(testKey(1), testEntry(5).Schedule))
		r, err := s.Check()
		must(t, err)
		want := Report{Path: s.Path(), Exists: true, Format: storeFormat, Bytes: r.Bytes, Generation: r.Generation, Problems: 3, Entries: 6, Unfinished: 1, Configs: 3}
		if d := cmp.Diff(want, r); d != "" {
			t.Error(d)
		}
	})
}

// TestNoAccess runs as nobody where the tests run as root, who may do all.
func TestNoAccess(t *testing.T) {
	for _, c := range []struct {
		name        string
		file, dir   os.FileMode
		read, write bool // whether it is refused
	}{
		{"all", 0o666, 0o777, false, false},
		{"file not readable", 0o000, 0o777, true, true},
		{"file not writable", 0o444, 0o777, false, true},
		{"folder not readable", 0o666, 0o000, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "cache-test-")
			must(t, err)
			defer os.RemoveAll(dir)
			s := reopen(t, filepath.Join(dir, "store.db"))
			must(t, s.Writable())
			must(t, os.Chmod(s.Path(), c.file))
			must(t, os.Chmod(dir, c.dir))
			defer os.Chmod(dir, 0o700)
			cmd := command("nobody", s.Path(), 0, 0)
			out, err := cmd.CombinedOutput()
			must(t, err)
			lines := strings.Split(string(out), "\n")
			if strings.Contains(lines[0], "error") {
				t.Skip(lines[0])
			}
			for i, want := range []string{fmt.Sprintf("read %v ", c.read), fmt.Sprintf("write %v ", c.write)} {
				if !strings.HasPrefix(lines[i], want) {
					t.Errorf("%q, want %q", lines[i], want)
				}
				if strings.Contains(want, "true") && !strings.Contains(lines[i], s.Path()) {
					t.Errorf("%q does not name the path", lines[i])
				}
			}
		})
	}
	t.Run("folder cannot be made", func(t *testing.T) {
		dir, err := os.MkdirTemp("", "cache-test-")
		must(t, err)
		defer os.RemoveAll(dir)
		must(t, os.Chmod(dir, 0o555))
		out, err := command("nobody", filepath.Join(dir, "a", "store.db"), 0, 0).CombinedOutput()
		must(t, err)
		if !strings.HasPrefix(string(out), "read false") || !strings.Contains(string(out), "write true") {
			t.Errorf("%s", out)
		}
	})
}

func BenchmarkRecord(b *testing.B) {
	for _, batch := range []int{1, 16} {
		b.Run(fmt.Sprint("entries=", batch), func(b *testing.B) {
			s := openTemp(b)
			entries := make([]Entry, batch)
			for i := 0; b.Loop(); i++ {
				for k := range entries {
					entries[k] = testEntry((i*batch + k) % 20000)
				}
				must(b, s.Record(testKey(0), entries...))
			}
		})
	}
}

func BenchmarkRecordInto10000(b *testing.B) {
	s := openTemp(b)
	var entries []Entry
	for i := range 10000 {
		entries = append(entries, testEntry(i))
	}
	must(b, s.Record(testKey(0), entries...))
	for i := 0; b.Loop(); i++ {
		must(b, s.Record(testKey(0), testEntry(i%10000)))
	}
}

func BenchmarkEntries(b *testing.B) {
	s := openTemp(b)
	var entries []Entry
	for i := range 10000 {
		entries = append(entries, testEntry(i))
	}
	must(b, s.Record(testKey(0), entries...))
	for b.Loop() {
		if _, err := s.Entries(testKey(0)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheckPages(b *testing.B) {
	s := openTemp(b)
	var entries []Entry
	for i := range 10000 {
		entries = append(entries, testEntry(i))
	}
	must(b, s.Record(testKey(0), entries...))
	data, err := os.ReadFile(s.Path())
	must(b, err)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := checkPages(data, whole); err != nil {
			b.Fatal(err)
		}
	}
}

// A sound record under another name is not what was written there: a page of another problem
// may have taken the place of this one's.
func TestARecordUnderAnotherNameIsDamaged(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) {
		s := fresh()
		must(t, s.PutBest(testKey(0), configAt(testKey(0))))
		must(t, s.PutBest(testKey(1), configAt(testKey(1))))
		must(t, s.Record(testKey(0), testEntry(0)))
		must(t, s.Record(testKey(1), testEntry(0)))
		put(t, s, bestAt(testKey(1)), stored(t, s, bestAt(testKey(0))))
		put(t, s, entryAt(testKey(1).String(), testEntry(0)), stored(t, s, entryAt(testKey(0).String(), testEntry(0))))
		r, err := s.Check()
		must(t, err)
		if r.Damaged != 2 || r.Configs != 1 || r.Entries != 1 {
			t.Errorf("%+v", r)
		}
	})
}
