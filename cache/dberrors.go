package cache

import (
	"context"
	"crypto/tls"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"
	"strings"
	"syscall"

	"github.com/go-sql-driver/mysql"
)

// fault is what went wrong with a database, whatever its kind.
type fault int

const (
	faultOther       fault = iota
	faultNoAnswer          // the network, or the server is gone
	faultStarting          // the server is about to start
	faultStopping          // the server ends
	faultCrowded           // too many connections
	faultTurn              // the transaction made room for others
	faultTaken             // another writer does not end
	faultLogin             // user or password
	faultNoDatabase        // there is none of this name
	faultNoRights          // to the tables
	faultReadOnly          // a copy, or a server that is being cared for
	faultFull              // the server's disk
	faultNoTables          // there is no store yet
	faultForeign           // the tables are another program's
	faultUnsupported       // it lacks what a store asks for
	faultTLS               // the server has none, or a certificate that is not trusted
)

// errNoTables is a store of which some tables are there: another process makes them.
var errNoTables = errors.New("the tables are not complete")

// faultOf is what an error means.
func (d *database) faultOf(err error) (fault, string) {
	if errors.Is(err, errNoTables) {
		return faultNoTables, ""
	}
	if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted || errors.Is(err, mysql.ErrNoTLS) {
		return faultTLS, ""
	}
	return d.fault(err)
}

// noTables tells whether a query failed because there is no store yet.
func (d *database) noTables(err error) bool {
	if err == nil {
		return false
	}
	f, _ := d.faultOf(err)
	return f == faultNoTables
}

// passes tells whether an error goes when the database is back, or others are done.
func (d *database) passes(err error) bool {
	if _, done := errors.AsType[*Error](err); done {
		return false
	}
	switch f, _ := d.faultOf(err); f {
	case faultStarting:
		return true
	case faultNoAnswer, faultStopping, faultCrowded, faultTurn:
		return d.reached
	}
	return false
}

// explain turns the error of an operation on a database into an *Error.
func (d *database) explain(verb string, err error) error {
	if err == nil {
		return nil
	}
	if done, ok := errors.AsType[*Error](err); ok {
		done.Path = d.shown
		return err
	}
	f, said := d.faultOf(err)
	if said == "" {
		said = cause(err)
	}
	e := &Error{Kind: ErrUnwritable, Path: d.shown, Detail: fmt.Sprintf("cannot %s it: %s", verb, said), Remedy: d.remedy(f), Err: err}
	const name = "name another store with --store or TUNE_STORE"
	switch f {
	case faultNoRights:
		e.Remedy = "have its owner grant this user the tables whose names begin with tune_, or the right to make them"
	case faultReadOnly:
		e.Remedy = "it can be read only: name the primary server, with --store or TUNE_STORE"
	case faultFull:
		e.Remedy = "free some space on the server's disk; what was stored before is intact"
	case faultCrowded:
		e.Remedy = "raise max_connections on the server, or begin fewer tunes at once"
	case faultTaken:
		e.Kind, e.Detail, e.Remedy = ErrLocked, "another process writes the same records", "wait for it to end, or "+name
	case faultForeign, faultNoTables:
		e.Kind = ErrCorrupt
		e.Remedy = "its tables are not those of a store; " + name
	case faultStarting, faultStopping:
		e.Remedy = "start the database; what was stored before is intact"
	case faultNoAnswer:
		e.Remedy = "start the database or correct its address, or " + name
		if d.reached {
			e.Remedy = "start the database, or see to the network; what was stored before is intact"
		}
	case faultTLS:
		e.Remedy = "give the server a certificate that this machine trusts, or ask for less in the URL: sslmode of PostgreSQL, tls of MariaDB"
	case faultOther, faultTurn:
		e.Remedy = "see the server's log, or " + name
	}
	return e
}

var quotation = regexp.MustCompile(`(?s)".*"`) // what is quoted may hold quotation marks

// badURL is the error of a URL that cannot be read, without the URL, which may hold a password.
func badURL(name string, err error, like string) error {
	why := "a field of it is none"
	_, parse := url.Parse(name)
	if bad, ok := errors.AsType[*url.Error](parse); ok {
		why = bad.Err.Error()
	} else if inner := errors.Unwrap(err); inner != nil {
		why = inner.Error()
	}
	if strings.Contains(name, "@") { // what is quoted may be a part of a password, of which / ends the host and % is no escape
		why = quotation.ReplaceAllString(why, "...") + `; a password has %2F for "/", %25 for "%" and so on`
	}
	return badName("--store or TUNE_STORE: its URL cannot be read (" + why + "); want one like " + like)
}

// cause is the last link of an error's chain, which is short and names no secret.
func cause(err error) string {
	network, ok := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), ok && network.Timeout():
		return "no answer in time"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, mysql.ErrInvalidConn):
		return "the connection broke"
	}
	if resolve, ok := errors.AsType[*net.DNSError](err); ok {
		return "host " + resolve.Name + " not found"
	}
	if system, ok := errors.AsType[syscall.Errno](err); ok {
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
