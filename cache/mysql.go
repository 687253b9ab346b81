package cache

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// mySQL is MariaDB, version 10.6 and newer, or MySQL 8, which have tables of JSON.
type mySQL struct {
	connector driver.Connector
	database  string

	// A transaction leaves its number in the row of its process in tune_writer.
	writer string
	number int64
}

const likeMySQL = "mysql://user@host/database"

// newMySQL reads a URL whose options are those of the driver (tls=true and so on), and
// socket=PATH. TLS is used where the server has it. The password may come from MYSQL_PWD. shown is the URL without secrets and options.
func newMySQL(name string, wait patience) (s *mySQL, shown string, err error) {
	u, err := url.Parse(name)
	if err != nil {
		return nil, "", badURL(name, err, likeMySQL)
	}
	options := u.Query()
	socket := options.Get("socket")
	options.Del("socket")
	config, err := mysql.ParseDSN("/?" + options.Encode())
	if err != nil {
		return nil, "", badName("--store or TUNE_STORE: an option of its URL is none: " + err.Error())
	}
	config.TLSConfig = cmp.Or(config.TLSConfig, "preferred") // as libpq's
	at := url.URL{Scheme: "mysql", Host: u.Host, Path: u.Path}
	config.Net, config.Addr = "tcp", net.JoinHostPort(cmp.Or(u.Hostname(), "127.0.0.1"), cmp.Or(u.Port(), "3306"))
	if socket != "" {
		config.Net, config.Addr = "unix", socket
		at.RawQuery = url.Values{"socket": {socket}}.Encode()
	}
	config.User = cmp.Or(u.User.Username(), os.Getenv("USER"))
	at.User = url.User(config.User)
	config.Passwd = os.Getenv("MYSQL_PWD")
	if p, ok := u.User.Password(); ok {
		config.Passwd = p
	}
	if config.DBName = strings.TrimPrefix(u.Path, "/"); config.DBName == "" {
		return nil, "", badName("--store or TUNE_STORE: its URL names no database; want one like " + likeMySQL)
	}
	config.Timeout = cmp.Or(config.Timeout, connectTimeout)
	config.DialFunc = wait.dial
	config.MultiStatements, config.InterpolateParams = true, true
	config.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, "", badURL(name, err, likeMySQL)
	}
	return &mySQL{connector: connector, database: config.DBName, writer: rand.Text()}, at.String(), nil
}

func (s *mySQL) connect(ctx context.Context) (link, error) {
	conn, err := s.connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	l := mysqlLink{conn}
	// What does not fit is refused and not cut. A reading statement sees what was committed when it began.
	err = l.send(ctx, statement{sql: `set sql_mode = 'ANSI_QUOTES,STRICT_ALL_TABLES'`}, statement{sql: `set session transaction isolation level read committed`})
	if err != nil {
		l.close(ctx)
		return nil, err
	}
	return l, nil
}

// Records come as JSON, the first parameter. Texts are bytes, and ordered by them. A straight
// join looks each record up by its index.
const (
	mysqlJSON = `json_table(?, '$[*]' columns (part text character set utf8mb4 path '$.part', "key" text character set utf8mb4 path '$.key',
		name text character set utf8mb4 path '$.name', value longtext character set utf8mb4 path '$.value')) as w`
	// A key's number is its hash: counted ones would be handed out under a lock that all writers wait for.
	mysqlID      = `unhex(left(sha2(w.key, 256), 32))`
	mysqlKeys    = mysqlJSON + ` straight_join tune_key k on k.id = ` + mysqlID
	mysqlRecords = mysqlKeys + ` straight_join tune_record r on r.key = k.id and r.part = w.part`
)

// mysqlRead reads records, and of one that is too long what shows it.
var mysqlRead = fmt.Sprintf(`select r.part, k.text, r.name, left(r.value, %d) from `, maxRecord+1)

var mysqlWords = words{
	create: []string{
		`create table if not exists tune_key (id binary(16) primary key, text varbinary(3000) not null, index (text)) engine = innodb`,
		`create table if not exists tune_record ("key" binary(16) not null references tune_key (id), part varbinary(16) not null,
			name varbinary(2900) not null, value longblob not null, primary key ("key", part, name)) engine = innodb`,
		`create table if not exists tune_writer (id varbinary(32) primary key, done bigint not null,
			at timestamp not null default current_timestamp on update current_timestamp, index (at)) engine = innodb`,
		`create table if not exists tune_store (name varbinary(32) primary key, value varbinary(200) not null) engine = innodb`,
		`insert into tune_store values ('format', '` + storeFormat + `') on duplicate key update name = name`,
	},
	format: `select value from tune_store where name = 'format'`,
	named:  mysqlRead + mysqlRecords + ` and r.name = w.name`,
	all:    mysqlRead + mysqlRecords,
	// A limit keeps the planner from reading all records.
	keys: `select text from tune_key k where (select 1 from tune_record r where r.key = k.id and r.part = ? limit 1) and text >= ? and text < ? order by text`,
	size: `select cast(sum(data_length + index_length) as char) from information_schema.tables
		where table_schema = database() and table_name in ('tune_store', 'tune_key', 'tune_record', 'tune_writer')`,
	writes:      `select concat_ws(' ', count(*), sum(done), max(at)) from tune_writer`,
	clock:       `select cast(unix_timestamp(now(6)) * 1000000 as unsigned)`,
	insertKeys:  `insert into tune_key select ` + mysqlID + `, w.key from ` + mysqlJSON + ` on duplicate key update text = tune_key.text`,
	upsert:      `insert into tune_record select k.id, w.part, w.name, from_base64(w.value) from ` + mysqlKeys + ` on duplicate key update value = values(value)`,
	deleteNamed: `delete r from ` + mysqlRecords + ` and r.name = w.name`,
	deleteAll:   `delete r from ` + mysqlRecords,
}

func (*mySQL) words() *words { return &mysqlWords }

// place: without a database there is no connection.
func (*mySQL) place(context.Context, link) error { return nil }

// begin takes turns by locks of rows: of the format's, shared by writers of few keys, and of the keys.
func (s *mySQL) begin(keys []wire, wait, idle time.Duration, check func([][]byte) error, id *string) []statement {
	s.number++
	*id = strconv.FormatInt(s.number, 10)
	seconds := func(d time.Duration) int { return max(1, int(d.Seconds())) }
	list := []statement{
		{sql: fmt.Sprintf(`set innodb_lock_wait_timeout = %d, wait_timeout = %d, net_read_timeout = %[2]d`, seconds(wait), seconds(idle))},
		{sql: `start transaction`},
	}
	if len(keys) > fewKeys {
		list = append(list, statement{sql: mysqlWords.format + ` for update`, row: check})
	} else {
		list = append(list, statement{sql: mysqlWords.format + ` lock in share mode`, row: check})
		list = append(list, about(mysqlWords.insertKeys, keys, nil)...)
	}
	if s.number == 1 { // rows of processes that ended long ago
		list = append(list, statement{sql: `delete from tune_writer where at < now() - interval 7 day`})
	}
	return append(list, statement{sql: `insert into tune_writer (id, done) values (?, ?) on duplicate key update done = values(done)`, params: []string{s.writer, *id}})
}

// committed asks for the number that the process's last transaction left, and waits for one
// that has not ended: it holds that row.
func (s *mySQL) committed(ctx context.Context, l link, id string, _ func() (bool, error)) (bool, error) {
	last := ""
	err := l.send(ctx, statement{`select done from tune_writer where id = ? lock in share mode`, []string{s.writer}, func(f [][]byte) error {
		last = string(f[0])
		return nil
	}})
	return last == id, err
}

// mysqlLink is a connection to MariaDB or MySQL.
type mysqlLink struct{ conn driver.Conn }

// sentText is how many bytes of statements are sent at once: servers take 16 MiB and more.
const sentText = 4 << 20

func (l mysqlLink) send(ctx context.Context, list ...statement) error {
	for len(list) > 0 {
		n, size := 0, 0
		for ; n < len(list) && size < sentText; n++ {
			for _, p := range list[n].params {
				size += len(p)
			}
		}
		if err := l.sendAll(ctx, list[:n]); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

func (l mysqlLink) sendAll(ctx context.Context, list []statement) (err error) {
	var text strings.Builder
	var params []driver.NamedValue
	var takers []func([][]byte) error // of the statements that give rows
	for _, s := range list {
		text.WriteString(s.sql + ";\n")
		for _, p := range s.params {
			params = append(params, driver.NamedValue{Ordinal: len(params) + 1, Value: p})
		}
		if s.row != nil {
			takers = append(takers, s.row)
		}
	}
	rows, err := l.conn.(driver.QueryerContext).QueryContext(ctx, text.String(), params)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, rows.Close()) }()
	more := rows.(driver.RowsNextResultSet)
	var bad error
	for _, take := range takers {
		values := make([]driver.Value, len(rows.Columns()))
		fields := make([][]byte, len(values))
		for {
			if err := rows.Next(values); err == io.EOF {
				break
			} else if err != nil {
				return err
			}
			for i, v := range values {
				if b, ok := v.([]byte); ok || v == nil {
					fields[i] = b
				} else {
					fields[i] = fmt.Append(nil, v)
				}
			}
			if bad == nil {
				bad = take(fields)
			}
		}
		if err := more.NextResultSet(); err != nil && err != io.EOF {
			return err
		}
	}
	return bad
}

func (l mysqlLink) closed() bool          { return !l.conn.(driver.Validator).IsValid() }
func (l mysqlLink) close(context.Context) { l.conn.Close() }

func (*mySQL) fault(err error) (fault, string) {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	if !ok {
		return faultNoAnswer, ""
	}
	return mysqlFault(e), fmt.Sprintf("%s (%d)", strings.ReplaceAll(e.Message, "\n", " "), e.Number)
}

// noSpace finds the system's number for a full disk, ENOSPC.
var noSpace = regexp.MustCompile(`\b28\b`)

// mysqlFault is what an error's number means: the error references of MariaDB and MySQL.
func mysqlFault(e *mysql.MySQLError) fault {
	switch e.Number {
	case 1053, 1927, 3169, 4031: // shut down; killed; idle for too long
		return faultStopping
	case 1040, 1203:
		return faultCrowded
	case 1213:
		return faultTurn
	case 1205:
		return faultTaken
	case 1045, 1130, 1698:
		return faultLogin
	case 1044, 1049:
		return faultNoDatabase
	case 1142, 1143, 1227:
		return faultNoRights
	case 1290, 1792, 1836:
		return faultReadOnly
	case 1021, 1114:
		return faultFull
	case 1146:
		return faultNoTables
	case 1054, 1136:
		return faultForeign
	case 1064, 1305:
		return faultUnsupported
	case 1026, 1030: // of writing a file, of the storage engine: with the system's number
		if noSpace.MatchString(e.Message) {
			return faultFull
		}
	}
	return faultOther
}

func (s *mySQL) remedy(f fault) string {
	switch f {
	case faultLogin:
		return "give the password in MYSQL_PWD or in a URL in TUNE_STORE, and the user in the URL"
	case faultNoDatabase:
		return "make it: create database " + s.database + "; and grant this user all rights on it"
	case faultUnsupported:
		return "a store needs MariaDB 10.6 or MySQL 8, or newer: name another store with --store or TUNE_STORE"
	}
	return ""
}
