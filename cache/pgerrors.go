package cache

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// starting is the SQLSTATE of a server that is about to start.
const starting = "57P03"

// code is the SQLSTATE of an error, "" if it is not the server's.
func code(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// noTables tells whether a query failed because there is no store yet.
func noTables(err error) bool { return code(err) == "42P01" }

// away tells whether an error passes when the database is back, or others are done.
func away(err error) bool {
	switch c := code(err); {
	case c == "":
		var done *Error
		return !errors.As(err, &done) && !errors.Is(err, context.DeadlineExceeded)
	case strings.HasPrefix(c, "08"), strings.HasPrefix(c, "57P"): // connections; shut down, starting
		return c != "57P04" // dropped
	default:
		return c == "53300" || c == "40001" || c == "40P01" || c == "25P03"
	}
}

// explain turns the error of an operation on a database into an *Error.
func (d *database) explain(verb string, err error) error {
	var done *Error
	if err == nil || errors.As(err, &done) {
		return err
	}
	e := &Error{Kind: ErrUnwritable, Path: d.shown, Err: err}
	var server *pgconn.PgError
	if errors.As(err, &server) {
		e.Detail = fmt.Sprintf("cannot %s it: %s (%s)", verb, server.Message, server.Code)
	} else {
		e.Detail = fmt.Sprintf("cannot %s it: %s", verb, cause(err))
	}
	const name = "name another store with --store or TUNE_STORE"
	switch c := code(err); {
	case strings.HasPrefix(c, "28"):
		e.Remedy = "give the password in PGPASSWORD or ~/.pgpass, and the user in the URL or PGUSER"
	case c == "3D000", c == "57P04":
		e.Remedy = "make it: createdb " + quoteShell(d.config.Database)
	case c == "42501":
		e.Remedy = "have its owner grant this user the tables tune_store, tune_key and tune_record, or the right to make them"
	case c == "25006":
		e.Remedy = "it can be read only: name the primary server, with --store or TUNE_STORE"
	case c == "53100":
		e.Remedy = "free some space on the server's disk; what was stored before is intact"
	case c == "53300":
		e.Remedy = "raise max_connections on the server, or begin fewer tunes at once"
	case c == "55P03":
		e.Kind, e.Detail, e.Remedy = ErrLocked, "another process writes the same records", "wait for it to end, or "+name
	case c == "42703", c == "42P01":
		e.Kind = ErrCorrupt
		e.Remedy = "its tables are not those of a store; " + name
	case c == "57P01", c == "57P02", c == starting:
		e.Remedy = "start the database; what was stored before is intact"
	case c == "" && !d.reached:
		e.Remedy = "start the database or correct its address, or " + name
	case c == "":
		e.Remedy = "start the database, or see to the network; what was stored before is intact"
	default:
		e.Remedy = "see the server's log, or " + name
	}
	return e
}

// cause is the last link of an error's chain, which is short and names no secret.
func cause(err error) string {
	var network net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "no answer in time"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	}
	var resolve *net.DNSError
	if errors.As(err, &resolve) {
		return "host " + resolve.Name + " not found"
	}
	var system syscall.Errno
	if errors.As(err, &system) {
		return system.Error()
	}
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return strings.ReplaceAll(err.Error(), "\n", " ")
		}
		err = next
	}
}
