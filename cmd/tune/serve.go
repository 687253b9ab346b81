package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stenciltune/cache"
	"stenciltune/cmd/internal/cli"
	"stenciltune/report"
	"stenciltune/serve"
	"stenciltune/tuner"
)

// tokenVariable holds the token where no file is named.
const tokenVariable = "TUNE_SERVE_TOKEN"

func (a *app) serve() *cobra.Command {
	var f reportFlags
	var listen, token string
	c := &cobra.Command{
		Use:   "serve [--listen 127.0.0.1:0] [--stencil NAME ...] [--device NAME]",
		Short: "Show running and past tunes in a browser, live",
		Long: `serve answers on this machine with a page of the tunes in the store, those that run
first, and brings what they measure as they measure it. Two can stand side by side. It
prints the page's address and answers until it is interrupted. It only reads, and no
tune waits for it.

Another machine's browser sees it through ssh -L PORT:127.0.0.1:PORT HOST. Beyond
loopback it listens with a token alone, of a file or of ` + tokenVariable + `; what
then goes over the network is not encrypted.`,
		Example: `  tune serve
  tune serve --listen 127.0.0.1:8080 --stencil jacobi3d
  openssl rand -hex 16 > token && chmod 600 token && tune serve --listen :8080 --token token`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if strings.HasPrefix(f.device, tuner.ReplayPrefix) || strings.HasSuffix(f.device, ".jsonl.gz") {
				return cli.Usagef("--device %s: serve shows what the store holds; of a recording there is tune report --device %s", f.device, f.device)
			}
			secret, err := a.token(token)
			if err != nil {
				return err
			}
			shelf, err := a.shelf(f)
			if err != nil {
				return err
			}
			if _, err := shelf.List(); err != nil { // a store that cannot be read is told at once
				return err
			}
			return a.answer(c.Context(), listen, secret, shelf)
		},
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "`address` to listen on: host:port; port 0 is one that is free")
	c.Flags().StringVar(&token, "token", "", "`file` of the token that readers must have, beyond loopback (default: $"+tokenVariable+")")
	f.bind(c)
	c.Flags().Lookup("device").Usage = "only of this device: its `name`, or a part of it"
	return c
}

// maxToken is more than any token has.
const maxToken = 4096

// token is that of a file or, without one, of the environment.
func (a *app) token(file string) (string, error) {
	if file == "" {
		return os.Getenv(tokenVariable), nil
	}
	r, err := cache.OpenFile(file)
	if err != nil {
		return "", cli.Usagef("--token: %w", err)
	}
	defer r.Close()
	if info, err := r.Stat(); err == nil && info.Mode().IsRegular() && info.Mode()&0o077 != 0 {
		a.Say("warning: others on this machine may read %s: chmod 600 %s", file, file)
	}
	b, err := io.ReadAll(io.LimitReader(r, maxToken))
	if err != nil {
		return "", cli.Usagef("--token: %w", err)
	}
	text := strings.TrimSpace(string(b))
	if text == "" {
		return "", cli.Usagef("--token %s: the file is empty: openssl rand -hex 16 > %s", file, file)
	}
	return text, nil
}

// answer answers until the context ends.
func (a *app) answer(ctx context.Context, listen, token string, from *shelf) error {
	addr, err := net.ResolveTCPAddr("tcp", listen)
	if err != nil {
		return cli.Usagef("--listen %s: %w; want host:port like 127.0.0.1:0", listen, err)
	}
	guard, err := serve.NewGuard(addr, token)
	if err != nil {
		return cli.Usagef("--listen %s: %w: give a token with --token FILE or %s (openssl rand -hex 16 > FILE makes one), or listen on 127.0.0.1 and come through ssh -L", listen, err, tokenVariable)
	}
	l, err := net.ListenTCP("tcp", addr)
	if err != nil {
		return cli.Usagef("--listen %s: %w", listen, err)
	}
	s := &http.Server{
		Handler:           &serve.Server{Source: from, Tool: toolName(), Guard: guard, Every: 500 * time.Millisecond},
		BaseContext:       func(net.Listener) context.Context { return ctx }, // so that event streams end
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: log.New(io.Discard, "", 0), // of readers that misbehave: nothing to do about them
	}
	defer context.AfterFunc(ctx, func() { s.Close() })()
	if _, err := fmt.Fprintf(a.Out, "http://%s/\n", reachable(l.Addr())); err != nil {
		return err
	}
	a.Say("shows the tunes of %s until it is interrupted", from.store.Path())
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// reachable is an address as a browser takes it: every interface is named by this machine.
func reachable(addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return addr.String()
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return net.JoinHostPort(host, fmt.Sprint(tcp.Port))
}

// Stamp is the store's.
func (s *shelf) Stamp() (string, error) { return s.store.Stamp() }

// List has the tunes that run first, then the others, the latest first.
func (s *shelf) List() (briefs []report.Brief, err error) {
	if s.list, err = s.all(); err != nil {
		return nil, err
	}
	for _, x := range s.list {
		r := x.run(s.names...)
		if r.Config == nil { // its best so far stands in the journal alone
			if r, err = s.withJournal(x); err != nil {
				return nil, err
			}
		}
		briefs = append(briefs, report.Make(r).Brief)
	}
	slices.SortStableFunc(briefs, func(a, b report.Brief) int {
		if (a.Phase != "") != (b.Phase != "") {
			if a.Phase != "" {
				return -1
			}
			return 1
		}
		return b.Time.Compare(a.Time)
	})
	return briefs, nil
}

// Tune is one of the list in whole.
func (s *shelf) Tune(id string) (report.Tune, bool, error) {
	at := slices.IndexFunc(s.list, func(x stored) bool { return x.id() == id })
	if at < 0 {
		return report.Tune{}, false, nil
	}
	r, err := s.withJournal(s.list[at])
	if err != nil {
		return report.Tune{}, false, err
	}
	return s.app.finish(r), true, nil
}
