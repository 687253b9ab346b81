package cache

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	berrors "go.etcd.io/bbolt/errors"
)

// What can be wrong with a store as a whole. Each is in the chain of an *Error.
var (
	// ErrLocked means that another process held the store for longer than the
	// lock time-out.
	ErrLocked = errors.New("store is locked")
	// ErrCorrupt means that the file is no store that can be trusted. It is left
	// as it is.
	ErrCorrupt = errors.New("store is corrupt")
	// ErrUnwritable means that the system refuses to read, write or create the
	// file: permissions, a full disk, a missing folder.
	ErrUnwritable = errors.New("store is not accessible")
)

// ErrName means that what should name a store is neither a path nor a URL of a database.
var ErrName = errors.New("no name of a store")

// badName is the message of an ErrName.
type badName string

func (e badName) Error() string      { return string(e) }
func (badName) Is(target error) bool { return target == ErrName }

// Error is a store that cannot be used, why, and what to do about it.
type Error struct {
	Kind   error  // ErrLocked, ErrCorrupt or ErrUnwritable
	Path   string // the store's file
	Detail string // what was found, one line
	Remedy string // what the user can do, one line
	Err    error  // the cause, if there is one
}

func (e *Error) Error() string {
	t := fmt.Sprintf("store %s: %s", e.Path, e.Detail)
	if e.Remedy != "" {
		t += "; " + e.Remedy
	}
	return t
}

// Unwrap gives the kind and the cause, for errors.Is and errors.As.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// corrupt is the error of a file that cannot be trusted.
func corrupt(path, format string, args ...any) *Error {
	return &Error{
		Kind:   ErrCorrupt,
		Path:   path,
		Detail: "the file is damaged or no store: " + fmt.Sprintf(format, args...),
		Remedy: fmt.Sprintf("it was left as it is; to begin a new store move it aside: mv %s %s.corrupt", quoteShell(path), quoteShell(path)),
	}
}

// notFile is the error of a path at which no store can be.
func notFile(path, what string) *Error {
	return &Error{
		Kind:   ErrCorrupt,
		Path:   path,
		Detail: "is " + what + ", not a file",
		Remedy: "name another file with --store or TUNE_STORE",
	}
}

// crash is a panic caught while bbolt or the page check looked at a file.
type crash struct{ value any }

func (c *crash) Error() string {
	line, _, _ := strings.Cut(fmt.Sprint(c.value), "\n")
	return line
}

// classify turns the error of an operation on a store into an *Error.
func classify(path, verb string, err error) error {
	if err == nil {
		return nil
	}
	if _, done := errors.AsType[*Error](err); done {
		return err
	}
	if c, ok := errors.AsType[*crash](err); ok {
		return corrupt(path, "%v", c)
	}
	for _, bad := range []error{berrors.ErrInvalid, berrors.ErrVersionMismatch, berrors.ErrChecksum, berrors.ErrIncompatibleValue} {
		if errors.Is(err, bad) {
			return corrupt(path, "%v", bad)
		}
	}
	e := &Error{Kind: ErrUnwritable, Path: path, Detail: fmt.Sprintf("cannot %s it: %v", verb, reason(err)), Err: err}
	switch {
	case errors.Is(err, syscall.ELOOP):
		return notFile(path, "a loop of symbolic links")
	case errors.Is(err, syscall.EISDIR):
		return notFile(path, "a folder")
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		e.Remedy = "give yourself access to the file and its folder, or name another file with --store or TUNE_STORE"
	case isErrno(err, syscall.ENOSPC), isErrno(err, syscall.EDQUOT):
		e.Remedy = "free some space on that disk; what was stored before is intact"
	case isErrno(err, syscall.EFBIG):
		e.Remedy = "raise the limit on file sizes (ulimit -f); what was stored before is intact"
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.EINVAL), errors.Is(err, fs.ErrNotExist):
		e.Remedy = "name another file with --store or TUNE_STORE"
	case errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.ENOTSUP):
		e.Remedy = "its file system has no locks; put the store on a local disk with --store or TUNE_STORE"
	default:
		e.Remedy = "check the disk, or name another file with --store or TUNE_STORE"
	}
	return e
}

// isErrno tells whether err is, or quotes, a system error: bbolt does not wrap
// the one it gets when its file grows.
func isErrno(err error, number syscall.Errno) bool {
	return errors.Is(err, number) || strings.Contains(err.Error(), number.Error())
}

// reason drops the path from a system error: our own message names it already.
func reason(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// quoteShell quotes a path for a command line in a message.
func quoteShell(path string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%,", r)
	}
	if path != "" && strings.IndexFunc(path, func(r rune) bool { return !safe(r) }) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
