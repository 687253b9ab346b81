package host

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"stenciltune/device"
)

// folderPrefix begins the names of the private folders.
const folderPrefix = "tune-host."

// folder is where a device keeps and runs what it compiles. Every compiler and every
// program works in it: so whatever works in a folder whose owner has ended is left over,
// whoever started it.
//
// The owner holds a lock on it as long as it lives. A guard, a small shell, waits for the
// owner's end and clears the folder then: a killed owner cannot. Should the guard be killed
// as well, the next folder that is made clears this one.
type folder struct {
	path  string
	lock  *os.File
	guard *exec.Cmd
	owner io.Closer // the guard's stdin: it ends with the owner
}

// guardScript kills what works in the folder $1, and all of that before it removes the
// folder: a child of a child may be about to begin.
const guardScript = `trap '' HUP INT TERM
read -r _
found=1
while [ $found ]; do
  sleep 0.05
  found=
  for p in /proc/[0-9]*; do
    if [ "$p/cwd" -ef "$1" ]; then kill -9 "${p#/proc/}" && found=1; fi
  done
done
rm -rf -- "$1"
`

// fullFolder finds in what compilers and programs print that they could not write into the folder.
var fullFolder = regexp.MustCompile(`(?m)^.*(No space left on device|Disk quota exceeded|Read-only file system|emulation: cannot write the answer).*$`)

// cannotWrite is the error of a folder that is full, or read-only by now: no schedule is to blame, and none would work.
func (d *Device) cannotWrite(why string) error {
	return fmt.Errorf("%w: folder for compiled kernels: %s; make room in %s, or name another folder with TMPDIR", device.ErrLost, strings.TrimSpace(why), filepath.Dir(d.dir))
}

// noMemory finds in what programs print that this machine had no memory left for the arrays, or no threads, of which there is one a core. What a
// schedule has of its own is not meant: stacks of a block's threads, shared memory.
var noMemory = regexp.MustCompile(`(?m)^(emulation: out of memory|  what\(\):  Resource temporarily unavailable)$`)

// outOfMemory is the error of such a machine: these are the same for every schedule, none is to blame.
func outOfMemory() error {
	return fmt.Errorf("%w: this machine has no memory left for the arrays, or no threads (ulimit -v, -u); end other programs, or choose a smaller --size", device.ErrLost)
}

// newFolder makes a folder, after it has cleared those whose owners are gone. Its guard is there before it: an owner may be killed at any moment.
func newFolder() (*folder, error) {
	sweep()
	for {
		f := &folder{path: filepath.Join(os.TempDir(), folderPrefix+strconv.FormatUint(rand.Uint64(), 10))}
		f.guard = exec.Command("/bin/sh", "-c", guardScript, "guard", f.path)
		f.guard.Dir = "/"
		f.guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C is not for it
		var err error
		if f.owner, err = f.guard.StdinPipe(); err == nil {
			err = f.guard.Start()
		}
		if err != nil {
			return nil, fmt.Errorf("%w: guard of the folder for compiled kernels: %w", device.ErrMissing, err)
		}
		made := os.Mkdir(f.path, 0o700)
		if err = made; err == nil {
			f.lock, err = lockFolder(f.path)
		}
		if err == nil {
			return f, nil
		}
		_ = f.guard.Process.Kill() // it would clear whatever has this name
		_ = f.guard.Wait()
		if errors.Is(made, fs.ErrExist) || made == nil && (errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, fs.ErrNotExist)) {
			continue // the name is taken, or another process's sweep came before the lock
		}
		err = fmt.Errorf("%w: folder for compiled kernels: %w", device.ErrMissing, err)
		if made == nil {
			err = errors.Join(err, os.Remove(f.path))
		}
		return nil, err
	}
}

// lockFolder takes the lock that tells others that a folder's owner lives. The system
// gives it up with the process.
func lockFolder(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		_, err = os.Stat(path) // a sweep removes what it has locked
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// sweep clears the folders whose owners are gone. What it may not touch is somebody else's.
func sweep() {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), folderPrefix+"*"))
	for _, path := range left {
		lock, err := lockFolder(path)
		if err != nil {
			continue
		}
		if !own(lock) { // somebody else may have named it so, and what works there is ours
			lock.Close()
			continue
		}
		for range 50 { // what is killed may just have started another, and writes until it is dead
			found := killIn(path)
			if os.RemoveAll(path) == nil && !found {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		lock.Close()
	}
}

// own tells whether a folder is this user's.
func own(folder *os.File) bool {
	info, err := folder.Stat()
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}

// killIn kills what works in a folder and tells whether there was anything.
func killIn(path string) (found bool) {
	all, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, cwd := range all {
		if at, err := os.Readlink(cwd); err != nil || at != path {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(cwd)))
		if err == nil && syscall.Kill(pid, syscall.SIGKILL) == nil {
			found = true
		}
	}
	return found
}

// close removes the folder and ends its guard.
func (f *folder) close() error {
	err := os.RemoveAll(f.path)
	f.owner.Close()
	f.lock.Close()
	// How the guard ended says nothing that matters: the folder is gone.
	_ = f.guard.Wait()
	return err
}
