package cache

import (
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

	"github.com/jackc/pgx/v5/pgconn"
)

// DefaultReconnect is how long an operation waits for a database that was reached before and
// is away, which is about as long as one takes to start again.
const DefaultReconnect = 20 * time.Second

const (
	connectTimeout = 15 * time.Second // for the first connection
	idleConnection = 5 * time.Second  // after which it is closed
	perRecord      = time.Millisecond // more, for each record of an operation
)

// tables is the layout, version storeFormat. Records are sealed as in a file. Texts are
// ordered by their bytes.
const tables = `
create table if not exists tune_store (name text primary key, value text not null);
create table if not exists tune_key (id bigint generated always as identity primary key, text text collate "C" not null unique);
create table if not exists tune_record (
	key bigint not null references tune_key (id), part text collate "C" not null, name text collate "C" not null,
	value bytea not null, primary key (key, part, name));
insert into tune_store values ('format', '` + storeFormat + `') on conflict do nothing`

// Places and records come as JSON, $1.
const (
	named = `json_to_recordset($1) as w (part text, key text, name text, value text) join tune_key k on k.text = w.key`

	selectFormat = `select value from tune_store where name = 'format'`
	selectNamed  = `select r.part, k.text, r.name, r.value from ` + named + ` join tune_record r on r.key = k.id and r.part = w.part and r.name = w.name`
	selectAll    = `select r.part, k.text, r.name, r.value from ` + named + ` join tune_record r on r.key = k.id and r.part = w.part`
	// A limit keeps the planner from reading all records.
	selectKeys = `select text from tune_key k cross join lateral (select from tune_record r where r.key = k.id and r.part = $1 limit 1) as held
		where text >= $2 and ($3 = '' or text < $3) order by text`
	selectSize   = `select sum(pg_total_relation_size(t)) from (values ('tune_store'::regclass), ('tune_key'), ('tune_record')) as w (t)`
	selectClock  = `select (extract(epoch from clock_timestamp()) * 1000000)::bigint`
	selectWrites = `select n_tup_ins + n_tup_upd + n_tup_del from pg_stat_user_tables where relid = 'tune_record'::regclass`
	insertKeys   = `insert into tune_key (text) select key from json_to_recordset($1) as w (key text)
		where not exists (select from tune_key where text = key) on conflict do nothing`
	upsert = `insert into tune_record (part, key, name, value) select w.part, k.id, w.name, decode(w.value, 'base64') from ` + named + `
		on conflict (key, part, name) do update set value = excluded.value`
	deleteNamed = `delete from tune_record r using ` + named + ` where r.key = k.id and r.part = w.part and r.name = w.name`
	deleteAll   = `delete from tune_record r using ` + named + ` where r.key = k.id and r.part = w.part`

	// Writers of one key take turns: what one reads, nobody changes before it has written. One
	// that writes many keys is alone. A client that vanishes gives up its turn.
	limits   = `select set_config('lock_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $1, true)`
	lockAll  = `select pg_advisory_xact_lock(hashtextextended('stenciltune.store', 0))`
	lockKeys = `select pg_advisory_xact_lock_shared(hashtextextended('stenciltune.store', 0)), pg_advisory_xact_lock(h)
		from (select distinct hashtextextended(key, 1) as h from json_to_recordset($1) as w (key text) order by h) as l`
	fewKeys = 16

	// sentAtOnce is how many records one statement takes.
	sentAtOnce = 1000
)

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

// database is an engine on PostgreSQL, version 12 and newer. It connects when it is used, and
// drops a connection that is idle.
type database struct {
	config *pgconn.Config
	shown  string // the URL without secrets and options
	wait   func() time.Duration

	mu      sync.Mutex
	conn    *pgconn.PgConn // nil = none
	idle    *time.Timer
	reached bool // a connection was made
}

// newDatabase reads a URL, and what it leaves out from the variables and files that libpq
// reads: PGPASSWORD, ~/.pgpass and so on.
func newDatabase(name string, wait func() time.Duration) (*database, error) {
	scheme, _, _ := strings.Cut(name, "://")
	if scheme != "postgres" && scheme != "postgresql" {
		return nil, badName(fmt.Sprintf("a store is a file or a database like postgres://user@host/database, not %s://", scheme))
	}
	config, err := pgconn.ParseConfig(name)
	if err != nil {
		return nil, badName("--store or TUNE_STORE: its URL cannot be read (" + unreadable(name, err) + "); want one like postgres://user@host/database")
	}
	config.RuntimeParams["application_name"] = cmp.Or(config.RuntimeParams["application_name"], "tune")
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	at := url.URL{Scheme: "postgres", User: url.User(config.User), Host: config.Host, Path: "/" + cmp.Or(config.Database, config.User)}
	options := url.Values{}
	if strings.HasPrefix(config.Host, "/") { // a socket's folder
		at.Host = ""
		options.Set("host", config.Host)
	} else if config.Port != 5432 {
		at.Host += fmt.Sprint(":", config.Port)
	}
	if schema := config.RuntimeParams["search_path"]; schema != "" {
		options.Set("search_path", schema)
	}
	at.RawQuery = options.Encode()
	return &database{config: config, shown: at.String(), wait: wait}, nil
}

// unreadable is why a URL cannot be read, without the URL.
func unreadable(name string, err error) string {
	var bad *url.Error
	if _, parse := url.Parse(name); errors.As(parse, &bad) {
		return bad.Err.Error()
	}
	if cause := errors.Unwrap(err); cause != nil {
		return cause.Error()
	}
	return "a field of it is none"
}

func (d *database) path() string { return d.shown }

// use runs fn with a connection, and again while the database is away. size is how many
// records fn is about.
func (d *database) use(verb string, size int, fn func(context.Context, *pgconn.PgConn) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	patience := d.wait()
	deadline := time.Now().Add(patience)
	ctx, cancel := context.WithDeadline(context.Background(), deadline.Add(time.Duration(size)*perRecord))
	defer cancel()
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		err := d.connect(ctx)
		if err == nil {
			err = fn(ctx, d.conn)
		}
		if d.conn != nil && d.conn.IsClosed() {
			d.conn = nil
		}
		if err == nil || !d.reached && code(err) != starting || !away(err) || time.Until(deadline) < pause {
			d.rest()
			return d.explain(verb, err)
		}
		time.Sleep(pause)
	}
}

// connect makes a connection unless there is one.
func (d *database) connect(ctx context.Context) error {
	if d.idle != nil {
		d.idle.Stop()
	}
	if d.conn != nil {
		return nil
	}
	conn, err := pgconn.ConnectConfig(ctx, d.config)
	if err != nil {
		return err
	}
	if e := conn.ParameterStatus("server_encoding"); e != "UTF8" {
		conn.Close(ctx)
		return &Error{Kind: ErrUnwritable, Path: d.shown, Detail: "the database's encoding is " + e, Remedy: "make one for the store: createdb --template template0 --encoding UTF8 NAME"}
	}
	d.conn, d.reached = conn, true
	return nil
}

// rest closes the connection if nobody uses it for some time.
func (d *database) rest() {
	if d.conn == nil {
		return
	}
	d.idle = time.AfterFunc(idleConnection, d.disconnect)
}

// disconnect closes the connection.
func (d *database) disconnect() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		d.conn.Close(ctx)
		d.conn = nil
	}
}

// statement is one of a batch.
type statement struct {
	sql    string
	params []string
	row    func(fields [][]byte) error // takes a row, which it must copy; nil if there is none
}

// send sends statements and takes their answers in one round trip. After one that fails the
// others are not run.
func send(ctx context.Context, conn *pgconn.PgConn, list ...statement) error {
	b := &pgconn.Batch{}
	for _, s := range list {
		var params [][]byte
		for _, p := range s.params {
			params = append(params, []byte(p))
		}
		var formats []int16
		if s.sql == selectNamed || s.sql == selectAll {
			formats = []int16{0, 0, 0, 1} // the value as bytes
		}
		b.ExecParams(s.sql, params, nil, nil, formats)
	}
	var bad error
	results := conn.ExecBatch(ctx, b)
	for i := 0; results.NextResult(); i++ {
		for rows := results.ResultReader(); rows.NextRow(); {
			if bad == nil && list[i].row != nil {
				bad = list[i].row(rows.Values())
			}
		}
	}
	return cmp.Or(results.Close(), bad)
}

// wire is a record, or where one lies, as statements take it.
type wire struct {
	Part  string `json:"part"`
	Key   string `json:"key"`
	Name  string `json:"name"`
	Value []byte `json:"value,omitempty"`
}

// about are statements on records, some of them each.
func about(sql string, records []wire, row func([][]byte) error) (list []statement) {
	for some := range slices.Chunk(records, sentAtOnce) {
		text, err := json.Marshal(some)
		if err != nil {
			panic("cache: " + err.Error()) // it holds texts alone
		}
		list = append(list, statement{sql, []string{string(text)}, row})
	}
	return list
}

// all tells whether a place is that of all records of a key.
func (at spot) all() bool { return nested(at.part) && at.name == "" }

// reads are the statements that read records and give them to found.
func reads(at []spot, found func(record)) []statement {
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
	return append(about(selectNamed, one, take), about(selectAll, all, take)...)
}

// format asks for the version of the layout.
func (d *database) format() statement {
	return statement{sql: selectFormat, row: func(f [][]byte) error {
		if string(f[0]) == storeFormat {
			return nil
		}
		return &Error{Kind: ErrCorrupt, Path: d.shown, Detail: fmt.Sprintf("its format is %.40q and this tool knows %q", f[0], storeFormat),
			Remedy: "use the version of the tool that wrote it, or name another database with --store or TUNE_STORE"}
	}}
}

// clock asks for the server's time.
func clock(to *time.Time) statement {
	return statement{sql: selectClock, row: func(f [][]byte) error {
		us, err := strconv.ParseInt(string(f[0]), 10, 64)
		*to = time.UnixMicro(us)
		return err
	}}
}

func (d *database) now() (now time.Time, err error) {
	err = d.view(0, clock(&now))
	return now, err
}

// view sends reading statements. Where there are no tables yet nothing is found.
func (d *database) view(size int, list ...statement) error {
	return d.use("read", size, func(ctx context.Context, conn *pgconn.PgConn) error {
		err := send(ctx, conn, append([]statement{d.format()}, list...)...)
		if noTables(err) {
			return d.schema(ctx, conn)
		}
		return err
	})
}

// schema tells whether there is a place for the tables.
func (d *database) schema(ctx context.Context, conn *pgconn.PgConn) error {
	return send(ctx, conn, statement{sql: "select current_schema()", row: func(f [][]byte) error {
		if f[0] != nil {
			return nil
		}
		return &Error{Kind: ErrUnwritable, Path: d.shown, Detail: "no schema that it looks in is there or may be used", Remedy: "make it: create schema NAME; or have its owner grant usage on it"}
	}})
}

func (d *database) read(at ...spot) ([]record, error) {
	if len(at) == 0 {
		return nil, nil
	}
	found := map[spot]record{} // an operation that is tried again may find some twice
	err := d.view(len(at), reads(at, func(r record) { found[r.spot] = r })...)
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
	end := prefix
	if n := len(end); n > 0 { // a prefix ends with a character that has a next one
		end = end[:n-1] + string(rune(end[n-1]+1))
	}
	var keys []string
	err := d.view(0, statement{selectKeys, []string{part, prefix, end}, func(f [][]byte) error {
		keys = append(keys, string(f[0]))
		return nil
	}})
	return slices.Compact(keys), err // one that is tried again may find some twice
}

func (d *database) inspect(r *Report) error {
	return d.view(0, statement{sql: selectSize, row: func(f [][]byte) (err error) {
		r.Exists = true
		r.Bytes, err = strconv.ParseInt(string(f[0]), 10, 64)
		return err
	}})
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
	ours := "" // the transaction of the run before, if it may have been committed
	err := d.use("write", len(at), func(ctx context.Context, conn *pgconn.PgConn) error {
		if ours != "" {
			if done, err := committed(ctx, conn, ours); done || err != nil {
				return err
			}
			ours = ""
		}
		t := &pgTx{had: map[spot][]byte{}, changed: map[spot][]byte{}}
		id, err := d.begin(ctx, conn, at, t)
		if noTables(err) {
			if err = d.create(ctx, conn); err == nil {
				id, err = d.begin(ctx, conn, at, t)
			}
		}
		if err == nil {
			err = fn(t)
		}
		if err == nil {
			ours = id
			if err = t.commit(ctx, conn); !conn.IsClosed() { // the server has answered
				ours = ""
			}
		}
		if err != nil {
			conn.Exec(ctx, "rollback").Close() // of a connection that failed the server does so
		}
		return err
	})
	var e *Error
	if ours != "" && errors.As(err, &e) {
		e.Detail += "; whether the last results were written is not known"
	}
	return err
}

// committed tells what became of a transaction whose commit was not answered.
func committed(ctx context.Context, conn *pgconn.PgConn, id string) (bool, error) {
	for {
		var status string
		err := send(ctx, conn, statement{"select txid_status($1)", []string{id}, func(f [][]byte) error {
			status = string(f[0])
			return nil
		}})
		if code(err) == "22023" { // it lies in the future: a server that crashed has not heard of it
			return false, nil
		}
		if err != nil || status != "in progress" {
			return status == "committed", err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// create makes the tables, one process at a time.
func (d *database) create(ctx context.Context, conn *pgconn.PgConn) error {
	conn.Exec(ctx, "rollback").Close()
	if err := d.schema(ctx, conn); err != nil {
		return err
	}
	return conn.Exec(ctx, "begin; "+lockAll+"; "+tables+"; commit").Close()
}

// begin begins a transaction, takes its turn, reads what fn may ask for and gives the
// transaction's number, in one round trip.
func (d *database) begin(ctx context.Context, conn *pgconn.PgConn, at []spot, t *pgTx) (id string, err error) {
	var keys []wire
	seen := map[string]bool{}
	for _, at := range at {
		if !seen[at.key] {
			seen[at.key] = true
			keys = append(keys, wire{Key: at.key})
		}
	}
	list := []statement{
		{sql: "begin"},
		{sql: limits, params: []string{fmt.Sprint(d.wait().Milliseconds() * 3 / 4)}}, // before the client gives up
	}
	if len(keys) > fewKeys {
		list = append(list, statement{sql: lockAll})
	} else {
		list = append(list, about(lockKeys, keys, nil)...)
	}
	list = append(list, d.format(), clock(&t.at), statement{sql: "select txid_current()", row: func(f [][]byte) error {
		id = string(f[0])
		return nil
	}})
	single := slices.DeleteFunc(slices.Clone(at), spot.all)
	return id, send(ctx, conn, append(list, reads(single, func(r record) { t.had[r.spot] = r.value })...)...)
}

// pgTx is a writing transaction: what was read at its begin, and what is to be written at
// its end.
type pgTx struct {
	at           time.Time
	had, changed map[spot][]byte // nil = dropped
	emptied      []wire
}

func (t *pgTx) now() time.Time { return t.at }

func (t *pgTx) get(at spot) []byte {
	if v, ok := t.changed[at]; ok {
		return v
	}
	return t.had[at]
}

func (t *pgTx) put(at spot, value []byte) { t.changed[at] = value }

func (t *pgTx) drop(at spot) {
	if at.all() {
		t.emptied = append(t.emptied, wire{Part: at.part, Key: at.key})
		return
	}
	t.changed[at] = nil
}

// commit writes and commits in one round trip.
func (t *pgTx) commit(ctx context.Context, conn *pgconn.PgConn) error {
	var puts, drops, keys []wire
	known := map[string]bool{}
	for at, value := range t.changed {
		w := wire{at.part, at.key, at.name, value}
		if value == nil {
			drops = append(drops, w)
			continue
		}
		puts = append(puts, w)
		if !known[at.key] {
			known[at.key] = true
			keys = append(keys, wire{Key: at.key})
		}
	}
	return send(ctx, conn, slices.Concat(about(deleteAll, t.emptied, nil), about(deleteNamed, drops, nil),
		about(insertKeys, keys, nil), about(upsert, puts, nil), []statement{{sql: "commit"}})...)
}
