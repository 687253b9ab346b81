package cache

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long an operation on a database may wait. From it follows when the other end counts as
// away and a connection is made anew. Systems would notice a network that comes back only after up to twice
// the time that it was away, and who waits for an answer, after two hours.
type patience func() time.Duration

// silence is how long the other end may leave what it was sent unconfirmed.
func (p patience) silence() time.Duration { return p() / 4 }

// keep asks the other end whether it is there. Systems count in seconds.
func (p patience) keep() net.KeepAliveConfig {
	return net.KeepAliveConfig{Enable: true, Idle: max(time.Second, p()/8), Interval: time.Second, Count: 3}
}

// dial makes a connection, and asks for it again and again: the first request may be lost.
func (p patience) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{
		Timeout:         p() / 10,
		KeepAliveConfig: p.keep(),
		Control: func(network, _ string, c syscall.RawConn) (err error) {
			if network != "unix" {
				_ = c.Control(func(fd uintptr) {
					err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(p.silence().Milliseconds()))
				})
			}
			return err
		},
	}
	all := []string{address}
	if host, port, err := net.SplitHostPort(address); err == nil && network != "unix" {
		found, err := net.DefaultResolver.LookupHost(ctx, host) // which takes its own time
		if err != nil {
			return nil, err
		}
		all = nil
		for _, a := range found {
			all = append(all, net.JoinHostPort(a, port))
		}
	}
	for {
		slow := false
		var conn net.Conn
		var err error
		for _, address := range all {
			if conn, err = d.DialContext(ctx, network, address); err == nil {
				return conn, nil
			}
			e, ok := errors.AsType[net.Error](err)
			slow = slow || ok && e.Timeout()
		}
		if !slow || ctx.Err() != nil {
			return nil, err
		}
	}
}
