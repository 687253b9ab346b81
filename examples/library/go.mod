module example.com/library

go 1.26.0

require stenciltune v0.0.0

require (
	filippo.io/edwards25519 v1.2.0 // indirect
	github.com/ebitengine/purego v0.11.3 // indirect
	github.com/go-sql-driver/mysql v1.10.1 // indirect
	github.com/google/renameio/v2 v2.0.2 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/pgx/v5 v5.12.0 // indirect
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // indirect
	go.etcd.io/bbolt v1.5.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	golang.org/x/tools v0.51.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace stenciltune => ../..
