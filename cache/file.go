package cache

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"
)

// WriteFile puts data into a file at once: whoever reads it sees the old bytes
// or the new ones, also after a crash. A file that has these bytes already is
// not touched, so that no build runs again because of it. A new file has mode
// 0644 less the umask; an existing one keeps its mode.
//
// What is there must be a file: neither a symbolic link, which someone else may
// have put there, nor a device or a pipe is replaced. The new bytes are written
// to a file of random name in the same folder, which must not exist before.
func WriteFile(path string, data []byte) error {
	if err := CanWrite(path); err != nil {
		return err
	}
	if info, err := os.Lstat(path); err == nil && info.Size() == int64(len(data)) && holds(path, data) {
		return nil
	}
	dir := filepath.Dir(path)
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(dir), renameio.WithPermissions(0o644), renameio.WithExistingPermissions())
	if err != nil {
		return fmt.Errorf("write %s: %w", path, reason(err))
	}
	defer f.Cleanup()
	if _, err := f.Write(data); err != nil {
		return fmt.Errorf("write %s: %w", path, reason(err))
	}
	if err := f.CloseAtomicallyReplace(); err != nil {
		return fmt.Errorf("write %s: %w", path, reason(err))
	}
	if err := syncDir(dir); err != nil {
		return fmt.Errorf("write %s: %w", path, reason(err))
	}
	return nil
}

// CanWrite tells early why WriteFile could not write a file: its folder is missing, or something else has its name.
func CanWrite(path string) error {
	if path == "" {
		return errors.New("write: no file named")
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return fmt.Errorf("write %s: its folder: %w", path, reason(err))
		}
	case err != nil:
		return fmt.Errorf("write %s: %w", path, reason(err))
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("write %s: is a symbolic link; name the file it points to", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("write %s: is not a file", path)
	}
	return nil
}

// ReadConfig reads and validates a config from a file, which may be a pipe. It
// reads no more than a config may have.
func ReadConfig(path string) (Config, error) {
	f, err := OpenFile(path)
	if err != nil {
		return Config{}, fmt.Errorf("read %s: %w", path, reason(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxConfig+1))
	if err != nil {
		return Config{}, fmt.Errorf("read %s: %w", path, reason(err))
	}
	if len(data) > MaxConfig {
		return Config{}, fmt.Errorf("read %s: more than %d bytes is no config", path, MaxConfig)
	}
	c, err := Decode(data)
	if err != nil {
		return Config{}, fmt.Errorf("read %s: %w", path, err)
	}
	return c, nil
}

// OpenFile opens a file or a pipe for reading, without waiting for somebody to write into a
// pipe: one that nobody has opened for that is empty.
func OpenFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() && info.Mode()&fs.ModeNamedPipe == 0 {
		err = &fs.PathError{Op: "open", Path: path, Err: errors.New("is neither a file nor a pipe")}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// holds tells whether a file has exactly these bytes.
func holds(path string, data []byte) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	got, err := io.ReadAll(io.LimitReader(f, int64(len(data))+1))
	return err == nil && bytes.Equal(got, data)
}
