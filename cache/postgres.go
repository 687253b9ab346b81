package cache

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// postgres is PostgreSQL, version 12 and newer.
type postgres struct {
	config *pgconn.Config
	wait   patience
}

const likePostgres = "postgres://user@host/database"

// newPostgres reads a URL, and what it leaves out from the variables and files that libpq
// reads: PGPASSWORD, ~/.pgpass and so on. shown is the URL without secrets and options.
func newPostgres(name string, wait patience) (s *postgres, shown string, err error) {
	config, err := pgconn.ParseConfig(name)
	if err != nil {
		return nil, "", badURL(name, err, likePostgres)
	}
	config.RuntimeParams["application_name"] = cmp.Or(config.RuntimeParams["application_name"], "tune")
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	config.DialFunc = wait.dial
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
	return &postgres{config, wait}, at.String(), nil
}

func (s *postgres) connect(ctx context.Context) (link, error) {
	conn, err := pgconn.ConnectConfig(ctx, s.config)
	if err != nil {
		return nil, err
	}
	if e := conn.ParameterStatus("server_encoding"); e != "UTF8" {
		conn.Close(ctx)
		return nil, &Error{Kind: ErrUnwritable, Detail: "the database's encoding is " + e, Remedy: "make one for the store: createdb --template template0 --encoding UTF8 NAME"}
	}
	l := pgLink{conn, map[string]*pgconn.StatementDescription{}}
	if err := l.send(ctx, s.alive()); err != nil {
		l.close(ctx)
		return nil, err
	}
	return l, nil
}

// alive has the server drop a client that is away. No other limit of its holds in the middle of what a client sends.
func (s *postgres) alive() statement {
	keep := s.wait.keep()
	return statement{sql: fmt.Sprintf(`select set_config('tcp_keepalives_idle', '%.0f', false), set_config('tcp_keepalives_interval', '%.0f', false),
		set_config('tcp_keepalives_count', '%d', false), set_config('tcp_user_timeout', '%d', false)`,
		keep.Idle.Seconds(), keep.Interval.Seconds(), keep.Count, s.wait.silence().Milliseconds())}
}

// Records come as JSON, $1. Texts are ordered by their bytes. Each record is looked up by its index: offset keeps the
// planner from another order, in which it reads tables that grew since they were last counted as a whole, as in a tune.
const (
	pgKeys  = `json_to_recordset($1) as w (part text, key text, name text, value text) cross join lateral (select * from tune_key where text = w.key offset 0) as k`
	pgAll   = pgKeys + ` cross join lateral (select ctid as at, * from tune_record where key = k.id and part = w.part offset 0) as r`
	pgNamed = pgKeys + ` cross join lateral (select ctid as at, * from tune_record where key = k.id and part = w.part and name = w.name offset 0) as r`

	pgLockAll = `select pg_advisory_xact_lock(hashtextextended('stenciltune.store', 0))`
)

// pgRead reads records, and of one that is too long what shows it.
var pgRead = fmt.Sprintf(`select r.part, k.text, r.name, substring(r.value from 1 for %d) from `, maxRecord+1)

var pgWords = words{
	create: []string{
		`begin`, pgLockAll, // one process at a time
		`create table if not exists tune_store (name text primary key, value text not null)`,
		`create table if not exists tune_key (id bigint generated always as identity primary key, text text collate "C" not null unique)`,
		`create table if not exists tune_record (
			key bigint not null references tune_key (id), part text collate "C" not null, name text collate "C" not null,
			value bytea not null, primary key (key, part, name))`,
		`insert into tune_store values ('format', '` + storeFormat + `') on conflict do nothing`,
		`commit`,
	},
	format: `select value from tune_store where name = 'format'`,
	named:  pgRead + pgNamed,
	all:    pgRead + pgAll,
	// A limit keeps the planner from reading all records.
	keys: `select text from tune_key k cross join lateral (select from tune_record r where r.key = k.id and r.part = $1 limit 1) as held
		where text >= $2 and text < $3 order by text`,
	size: `select sum(pg_total_relation_size(t)) from (values ('tune_store'::regclass), ('tune_key'), ('tune_record')) as w (t)`,
	// What is counted lags up to a second behind.
	writes: `select n_tup_ins + n_tup_upd + n_tup_del from pg_stat_user_tables where relid = 'tune_record'::regclass`,
	clock:  `select (extract(epoch from clock_timestamp()) * 1000000)::bigint`,
	insertKeys: `insert into tune_key (text) select key from json_to_recordset($1) as w (key text)
		where not exists (select from tune_key where text = key) on conflict do nothing`,
	upsert: `insert into tune_record (part, key, name, value) select w.part, k.id, w.name, decode(w.value, 'base64') from ` + pgKeys + `
		on conflict (key, part, name) do update set value = excluded.value`,
	deleteNamed: `delete from tune_record where ctid = any(array(select r.at from ` + pgNamed + `))`,
	deleteAll:   `delete from tune_record where ctid = any(array(select r.at from ` + pgAll + `))`,
}

func (*postgres) words() *words { return &pgWords }

// place tells whether there is a schema.
func (*postgres) place(ctx context.Context, l link) error {
	return l.send(ctx, statement{sql: "select current_schema()", row: func(f [][]byte) error {
		if f[0] != nil {
			return nil
		}
		return &Error{Kind: ErrUnwritable, Detail: "no schema that it looks in is there or may be used", Remedy: "make it: create schema NAME; or have its owner grant usage on it"}
	}})
}

// begin takes turns by advisory locks, which end with the transaction.
func (*postgres) begin(keys []wire, wait, idle time.Duration, check func([][]byte) error, id *string) []statement {
	list := []statement{
		{sql: "begin"},
		{sql: `select set_config('lock_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $2, true)`,
			params: []string{fmt.Sprint(wait.Milliseconds()), fmt.Sprint(idle.Milliseconds())}},
	}
	if len(keys) > fewKeys {
		list = append(list, statement{sql: pgLockAll})
	} else {
		list = append(list, about(`select pg_advisory_xact_lock_shared(hashtextextended('stenciltune.store', 0)), pg_advisory_xact_lock(h)
			from (select distinct hashtextextended(key, 1) as h from json_to_recordset($1) as w (key text) order by h) as l`, keys, nil)...)
	}
	return append(list, statement{sql: pgWords.format, row: check}, statement{sql: "select txid_current()", row: func(f [][]byte) error {
		*id = string(f[0])
		return nil
	}})
}

// committed asks by the transaction's number. A server that crashed gives numbers again that no log
// has seen, so one that was committed may be another's: what it has put must be there too.
func (*postgres) committed(ctx context.Context, l link, id string, seen func() (bool, error)) (bool, error) {
	for {
		var status string
		err := l.send(ctx, statement{"select txid_status($1)", []string{id}, func(f [][]byte) error {
			status = string(f[0])
			return nil
		}})
		if pgCode(err) == "22023" { // it lies in the future: a server that crashed has not heard of it
			return false, nil
		}
		if err == nil && status == "committed" {
			return seen()
		}
		if err != nil || status != "in progress" {
			return false, err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// pgLink is a connection to PostgreSQL. A statement with parameters that it sends again is prepared: reading
// and planning it takes longer than what it does.
type pgLink struct {
	conn     *pgconn.PgConn
	prepared map[string]*pgconn.StatementDescription // nil = sent once
}

func (l pgLink) send(ctx context.Context, list ...statement) error {
	b := &pgconn.Batch{}
	for _, s := range list {
		var params [][]byte
		for _, p := range s.params {
			params = append(params, []byte(p))
		}
		var formats []int16
		if s.sql == pgWords.named || s.sql == pgWords.all {
			formats = []int16{0, 0, 0, 1} // the value as bytes
		}
		if p, err := l.prepare(ctx, s); err != nil {
			return err
		} else if p != nil {
			b.ExecStatement(p, params, nil, formats)
		} else {
			b.ExecParams(s.sql, params, nil, nil, formats)
		}
	}
	var bad error
	results := l.conn.ExecBatch(ctx, b)
	for i := 0; results.NextResult(); i++ {
		for rows := results.ResultReader(); rows.NextRow(); {
			if bad == nil && list[i].row != nil {
				bad = list[i].row(rows.Values())
			}
		}
	}
	return cmp.Or(results.Close(), bad)
}

// prepare prepares what was sent before, which takes a round trip; nil if it was not.
func (l pgLink) prepare(ctx context.Context, s statement) (p *pgconn.StatementDescription, err error) {
	p, again := l.prepared[s.sql]
	if p == nil && again {
		sum := sha256.Sum256([]byte(s.sql))
		p, err = l.conn.Prepare(ctx, fmt.Sprintf("tune_%x", sum[:8]), s.sql, nil)
		if pgCode(err) != "" && l.conn.TxStatus() == 'I' {
			return nil, nil // what is sent before it may say better what is wrong
		}
	}
	if len(s.params) > 0 {
		l.prepared[s.sql] = p
	}
	return p, err
}

func (l pgLink) closed() bool              { return l.conn.IsClosed() }
func (l pgLink) close(ctx context.Context) { l.conn.Close(ctx) }

// pgCode is the SQLSTATE of an error, "" if it is not the server's.
func pgCode(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

func (*postgres) fault(err error) (fault, string) {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return faultNoAnswer, ""
	}
	return pgFault(e.Code), fmt.Sprintf("%s (%s)", e.Message, e.Code)
}

// pgFault is what a SQLSTATE means: appendix A of PostgreSQL's manual.
func pgFault(code string) fault {
	switch code {
	case "57P01", "57P02":
		return faultStopping
	case "57P03":
		return faultStarting
	case "3D000", "57P04":
		return faultNoDatabase
	case "57P05", "25P03", "40001", "40P01":
		return faultTurn
	case "53300":
		return faultCrowded
	case "42501":
		return faultNoRights
	case "25006":
		return faultReadOnly
	case "53100":
		return faultFull
	case "55P03":
		return faultTaken
	case "42P01":
		return faultNoTables
	case "42703":
		return faultForeign
	}
	switch code[:2] {
	case "08":
		return faultNoAnswer
	case "28":
		return faultLogin
	}
	return faultOther
}

func (s *postgres) remedy(f fault) string {
	switch f {
	case faultLogin:
		return "give the password in PGPASSWORD or ~/.pgpass, and the user in the URL or PGUSER"
	case faultNoDatabase:
		return "make it: createdb " + quoteShell(s.config.Database)
	}
	return ""
}
