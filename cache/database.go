package cache

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// DefaultReconnect is how long an operation waits for a database that was reached before and
// is away, which is about as long as one takes to start again.
const DefaultReconnect = 20 * time.Second

const (
	connectTimeout = 15 * time.Second // for the first connection
	idleConnection = 5 * time.Second  // after which it is closed
	perRecord      = time.Millisecond // more, for each record of an operation

	// fewKeys is how many keys a writer takes turns for one by one. One that writes more is alone.
	fewKeys = 16

	// A statement takes so many records, and no more once their values have so many bytes.
	sentAtOnce = 1000
	sentBytes  = 1 << 20
)

// server is a database server of some kind: how it is reached, its words, and what its errors mean.
//
// Writers of one key take turns: what one reads, nobody changes before it has written. A client
// that vanishes gives up its turn.
type server interface {
	// connect makes a connection that takes and gives texts in UTF-8.
	connect(context.Context) (link, error)
	// words are the statements that are the same for every operation.
	words() *words
	// place tells whether there is a place for the tables.
	place(context.Context, link) error
	// begin are the statements that begin a transaction, take turns for keys in their order, give
	// the format's row to check and make id the transaction's name. The server gives up waiting for
	// a turn after a time, and a client from which it hears nothing after another.
	begin(keys []wire, wait, idle time.Duration, check func([][]byte) error, id *string) []statement
	// committed tells what became of a transaction whose commit was not answered. seen tells
	// whether anything is there that it has put.
	committed(c context.Context, l link, id string, seen func() (bool, error)) (bool, error)
	// fault is what an error means, and the server's own words for it, if they are the server's.
	fault(error) (f fault, said string)
	// remedy is what the user can do about a fault, where that differs between kinds of server.
	remedy(fault) string
}

// link is a connection to a server.
type link interface {
	// send sends statements and takes their answers, in one round trip unless they are large. After one that fails the others are not run.
	send(context.Context, ...statement) error
	closed() bool
	close(context.Context)
}

// words are statements. Records, or where they lie, come to them as JSON, as wire has it.
type words struct {
	create     []string // makes the tables of version storeFormat, where they are not there
	format     string   // the version of the layout
	named, all string   // part, key, name and value of records, and of all records of keys
	keys       string   // of a part, from a text on, below another
	size       string   // bytes
	writes     string   // another text after every write
	clock      string   // microseconds since 1970

	insertKeys, upsert, deleteNamed, deleteAll string
}

// IsURL tells whether a store's name is one of a database, and no path.
func IsURL(name string) bool {
	scheme, _, ok := strings.Cut(name, "://")
	return ok && !strings.Contains(scheme, "/")
}

// HasPassword tells whether a store's name holds a password, which other users of a machine
// can read on a command line.
func HasPassword(name string) bool {
	if !IsURL(name) {
		return false
	}
	u, err := url.Parse(name)
	if err != nil {
		return strings.Contains(name, "@")
	}
	_, set := u.User.Password()
	return set || u.Query().Has("password") || u.Query().Has("sslpassword")
}

// database is an engine on a database server. It connects when it is used, and drops a connection
// that is idle.
type database struct {
	server
	shown string // the URL without secrets and options
	wait  patience

	mu      sync.Mutex
	link    link // nil = none
	idle    *time.Timer
	reached bool // a connection was made
	away    bool // the last operation has waited in vain
}

// newDatabase reads a URL.
func newDatabase(name string, wait patience) (*database, error) {
	d := &database{wait: wait}
	var err error
	scheme, rest, _ := strings.Cut(name, "://")
	behind := "" // the host
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		behind = rest[i:]
	}
	like := likePostgres
	if scheme == "mysql" || scheme == "mariadb" {
		like = likeMySQL
	}
	switch {
	case strings.Contains(behind, "@"): // a password's / ends the host, and what follows would be shown as the database's name
		err = badName(fmt.Sprintf(`--store or TUNE_STORE: its URL has an "@" behind the host; a password has %%2F for "/", %%3F for "?" and %%23 for "#", and whatever follows the host %%40 for "@", as in %s`, like))
	case scheme == "postgres", scheme == "postgresql":
		d.server, d.shown, err = newPostgres(name, wait)
	case scheme == "mysql", scheme == "mariadb":
		d.server, d.shown, err = newMySQL(name, wait)
	default:
		err = badName(fmt.Sprintf("a store is a file or a database like %s or %s, not %s://", likePostgres, likeMySQL, scheme))
	}
	return d, err
}

func (d *database) path() string { return d.shown }

// use runs fn with a connection, and again while the database is away. size is how many
// records fn is about.
func (d *database) use(verb string, size int, fn func(context.Context, link) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	patience := d.wait()
	if d.away { // whoever goes on, say to leave, need not wait that long again
		patience /= 10
	}
	deadline := time.Now().Add(patience)
	ctx, cancel := context.WithDeadline(context.Background(), deadline.Add(time.Duration(size)*perRecord))
	defer cancel()
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		err := d.open(ctx)
		if err == nil {
			err = fn(ctx, d.link)
		}
		if d.link != nil && d.link.closed() {
			d.link.close(ctx)
			d.link = nil
		}
		if err == nil || !d.passes(err) || time.Until(deadline) < pause {
			d.rest()
			d.away = err != nil && d.passes(err)
			return d.explain(verb, err)
		}
		time.Sleep(pause)
	}
}

// open makes a connection unless there is one.
func (d *database) open(ctx context.Context) error {
	if d.idle != nil {
		d.idle.Stop()
	}
	if d.link != nil {
		return nil
	}
	l, err := d.connect(ctx)
	if err != nil {
		return err
	}
	d.link, d.reached = l, true
	return nil
}

// rest closes the connection if nobody uses it for some time.
func (d *database) rest() {
	if d.link == nil {
		return
	}
	d.idle = time.AfterFunc(idleConnection, d.disconnect)
}

// disconnect closes the connection.
func (d *database) disconnect() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.link != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		d.link.close(ctx)
		d.link = nil
	}
}

// statement is one of several that are sent together.
type statement struct {
	sql    string
	params []string
	row    func(fields [][]byte) error // takes a row, which it must copy; nil if there is none
}

// wire is a record, or where one lies, as statements take it.
type wire struct {
	Part  string `json:"part"`
	Key   string `json:"key"`
	Name  string `json:"name"`
	Value []byte `json:"value,omitempty"` // in base64
}

// about are statements on records, some of them each.
func about(sql string, records []wire, row func([][]byte) error) (list []statement) {
	for len(records) > 0 {
		n, size := 0, 0
		for n < min(len(records), sentAtOnce) && size < sentBytes {
			size += len(records[n].Value)
			n++
		}
		text, err := json.Marshal(records[:n])
		if err != nil {
			panic("cache: " + err.Error()) // it holds texts alone
		}
		list = append(list, statement{sql, []string{string(text)}, row})
		records = records[n:]
	}
	return list
}

// all tells whether a place is that of all records of a key.
func (at spot) all() bool { return nested(at.part) && at.name == "" }

// reads are the statements that read records and give them to found.
func (d *database) reads(at []spot, found func(record)) []statement {
	var one, all []wire
	for _, at := range at {
		w := wire{Part: at.part, Key: at.key, Name: at.name}
		if at.all() {
			all = append(all, w)
		} else {
			one = append(one, w)
		}
	}
	take := func(f [][]byte) error {
		found(record{spot{string(f[0]), string(f[1]), string(f[2])}, slices.Clone(f[3])})
		return nil
	}
	w := d.words()
	return append(about(w.named, one, take), about(w.all, all, take)...)
}

// known proves the version of the layout.
func (d *database) known(f [][]byte) error {
	if string(f[0]) == storeFormat {
		return nil
	}
	return &Error{Kind: ErrCorrupt, Path: d.shown, Detail: fmt.Sprintf("its format is %.40q and this tool knows %q", f[0], storeFormat),
		Remedy: "use the version of the tool that wrote it, or name another database with --store or TUNE_STORE"}
}

// clock asks for the server's time.
func (d *database) clock(to *time.Time) statement {
	return statement{sql: d.words().clock, row: func(f [][]byte) error {
		us, err := strconv.ParseInt(string(f[0]), 10, 64)
		*to = time.UnixMicro(us)
		return err
	}}
}

func (d *database) now() (now time.Time, err error) {
	err = d.view(0, d.clock(&now))
	return now, err
}

// view sends reading statements. Where there are no tables yet nothing is found.
func (d *database) view(size int, list ...statement) error {
	return d.use("read", size, func(ctx context.Context, l link) error {
		err := l.send(ctx, append([]statement{{sql: d.words().format, row: d.known}}, list...)...)
		if d.noTables(err) {
			return d.place(ctx, l)
		}
		return err
	})
}

func (d *database) read(at ...spot) ([]record, error) {
	if len(at) == 0 {
		return nil, nil
	}
	found := map[spot]record{} // an operation that is tried again may find some twice
	err := d.view(len(at), d.reads(at, func(r record) { found[r.spot] = r })...)
	if err != nil {
		return nil, err
	}
	order := make(map[spot]int, len(at))
	for i, at := range at {
		order[at] = i
	}
	asked := func(r record) int {
		if i, ok := order[r.spot]; ok {
			return i
		}
		return order[spot{part: r.part, key: r.key}]
	}
	return slices.SortedFunc(maps.Values(found), func(a, b record) int {
		return cmp.Or(cmp.Compare(asked(a), asked(b)), cmp.Compare(a.name, b.name))
	}), nil
}

func (d *database) keys(part, prefix string) ([]string, error) {
	end := string(utf8.MaxRune)
	if n := len(prefix); n > 0 { // it ends with a character of one byte that has a next one
		end = prefix[:n-1] + string(rune(prefix[n-1]+1))
	}
	var keys []string
	err := d.view(0, statement{d.words().keys, []string{part, prefix, end}, func(f [][]byte) error {
		keys = append(keys, string(f[0]))
		return nil
	}})
	slices.Sort(keys)
	return slices.Compact(keys), err // one that is tried again may find some twice
}

func (d *database) inspect(r *Report) error {
	return d.view(0, statement{sql: d.words().size, row: func(f [][]byte) (err error) {
		r.Exists = true
		r.Bytes, err = strconv.ParseInt(string(f[0]), 10, 64)
		return err
	}})
}

// stamp is what the server has counted of writes.
func (d *database) stamp() (stamp string, err error) {
	err = d.view(0, statement{sql: d.words().writes, row: func(f [][]byte) error {
		stamp = string(f[0])
		return nil
	}})
	return stamp, err
}

// writable makes the tables, and drops what is not there.
func (d *database) writable() error {
	at := spot{part: "store"}
	return d.update([]spot{at}, func(tx transaction) error {
		tx.drop(at)
		return nil
	})
}

func (d *database) update(at []spot, fn func(transaction) error) error {
	ours, wrote := "", (*writing)(nil) // the transaction of the run before, if it may have been committed
	err := d.use("write", len(at), func(ctx context.Context, l link) error {
		if ours != "" {
			if done, err := d.committed(ctx, l, ours, func() (bool, error) { return d.seen(ctx, l, wrote) }); done || err != nil {
				return err
			}
			ours = ""
		}
		t := &writing{had: map[spot][]byte{}, changed: map[spot][]byte{}}
		id, err := d.enter(ctx, l, at, t)
		if d.noTables(err) {
			if err = d.create(ctx, l); err == nil {
				id, err = d.enter(ctx, l, at, t)
			}
		}
		if err == nil {
			err = fn(t)
		}
		if err == nil {
			ours, wrote = id, t
			if err = t.commit(ctx, l, d.words()); !l.closed() { // the server has answered
				ours = ""
			}
		}
		if err != nil {
			l.send(ctx, statement{sql: "rollback"}) // of a connection that failed the server does so
		}
		return err
	})
	if e, ok := errors.AsType[*Error](err); ok && ours != "" {
		e.Detail += "; whether the last results were written is not known"
	}
	return err
}

// seen tells whether a record is there as a transaction has put it, or it has put none.
func (d *database) seen(ctx context.Context, l link, t *writing) (bool, error) {
	var at []spot
	for place, value := range t.changed {
		if value != nil {
			at = append(at, place)
		}
	}
	found := len(at) == 0
	err := l.send(ctx, d.reads(at, func(r record) { found = found || bytes.Equal(r.value, t.changed[r.spot]) })...)
	return found, err
}

// create makes the tables.
func (d *database) create(ctx context.Context, l link) error {
	l.send(ctx, statement{sql: "rollback"})
	if err := d.place(ctx, l); err != nil {
		return err
	}
	var list []statement
	for _, sql := range d.words().create {
		list = append(list, statement{sql: sql})
	}
	return l.send(ctx, list...)
}

// enter begins a transaction, takes its turn, reads what fn may ask for and gives the
// transaction's name, in one round trip.
func (d *database) enter(ctx context.Context, l link, at []spot, t *writing) (id string, err error) {
	var keys []wire
	for _, at := range at {
		keys = append(keys, wire{Key: at.key})
	}
	slices.SortFunc(keys, func(a, b wire) int { return strings.Compare(a.Key, b.Key) })
	keys = slices.CompactFunc(keys, func(a, b wire) bool { return a.Key == b.Key })
	made := false
	wait := d.wait() * 3 / 4 // it gives up before the client does,
	idle := wait             // which may have much to think of if it is alone,
	if len(keys) <= fewKeys {
		idle = wait / 3 // and else is away long before others give up that wait for its turn
	}
	list := d.begin(keys, wait, idle, func(f [][]byte) error {
		made = true
		return d.known(f)
	}, &id)
	list = append(list, d.clock(&t.at))
	single := slices.DeleteFunc(slices.Clone(at), spot.all)
	err = l.send(ctx, append(list, d.reads(single, func(r record) { t.had[r.spot] = r.value })...)...)
	if err == nil && !made {
		err = errNoTables
	}
	return id, err
}

// writing is a writing transaction: what was read at its begin, and what is to be written at
// its end.
type writing struct {
	at           time.Time
	had, changed map[spot][]byte // nil = dropped
	emptied      []wire
}

func (t *writing) now() time.Time { return t.at }

func (t *writing) get(at spot) []byte {
	if v, ok := t.changed[at]; ok {
		return v
	}
	return t.had[at]
}

func (t *writing) put(at spot, value []byte) { t.changed[at] = value }

func (t *writing) drop(at spot) {
	if at.all() {
		t.emptied = append(t.emptied, wire{Part: at.part, Key: at.key})
		return
	}
	t.changed[at] = nil
}

// commit writes and commits.
func (t *writing) commit(ctx context.Context, l link, w *words) error {
	var puts, drops, keys []wire
	known := map[string]bool{}
	for at, value := range t.changed {
		r := wire{at.part, at.key, at.name, value}
		if value == nil {
			drops = append(drops, r)
			continue
		}
		puts = append(puts, r)
		if !known[at.key] {
			known[at.key] = true
			keys = append(keys, wire{Key: at.key})
		}
	}
	return l.send(ctx, slices.Concat(about(w.deleteAll, t.emptied, nil), about(w.deleteNamed, drops, nil),
		about(w.insertKeys, keys, nil), about(w.upsert, puts, nil), []statement{{sql: "commit"}})...)
}
