package serve

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

// Guard says who may see a page. Without a token that is who names the server by a loopback
// address: a page of another site that lets its own name point here (DNS rebinding) names
// another one. With a token it is who has that, under any name.
type Guard struct{ Token string }

// cookie holds what a browser has of the token.
const cookie = "tune_serve"

// admit tells whether a request may be answered, and answers it if not.
func (g Guard) admit(w http.ResponseWriter, r *http.Request) bool {
	if g.Token == "" {
		if !loopback(r.Host) {
			http.Error(w, "this page answers on this machine alone: ask for 127.0.0.1 or localhost", http.StatusMisdirectedRequest)
			return false
		}
		return true
	}
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && same(bearer, g.Token) {
		return true
	}
	if c, err := r.Cookie(cookie); err == nil && same(c.Value, g.pass()) {
		return true
	}
	if given := r.URL.Query().Get("token"); given != "" && r.URL.Path == "/" && same(given, g.Token) {
		http.SetCookie(w, &http.Cookie{Name: cookie, Value: g.pass(), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
		http.Redirect(w, r, "/", http.StatusSeeOther) // so that it stands in no address
		return false
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusUnauthorized)
	_, _ = io.WriteString(w, ask)
	return false
}

// ask asks for the token.
const ask = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><title>Tunes</title>
<form action="/"><p><label>This page needs the token that tune serve was started with: <input name="token" type="password" autocomplete="off" autofocus></label> <button>Show</button></p></form>
</html>
`

// pass is what a cookie holds: it follows from the token, which does not follow from it.
func (g Guard) pass() string {
	m := hmac.New(sha256.New, []byte(g.Token))
	m.Write([]byte(cookie))
	return hex.EncodeToString(m.Sum(nil))
}

// same compares in a time that tells nothing of where two texts differ, or of their lengths.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// loopback tells whether a Host header names this machine, as nobody else's name does.
func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// shortest is the length of a token that nobody guesses, if it was drawn at random.
const shortest = 16

// NewGuard is that of a page on an address. Beyond loopback it needs a token.
func NewGuard(addr net.Addr, token string) (Guard, error) {
	tcp, ok := addr.(*net.TCPAddr)
	switch {
	case token == "" && !(ok && tcp.IP.IsLoopback()):
		return Guard{}, fmt.Errorf("%s can be reached from other machines", addr)
	case token != "" && len(token) < shortest:
		return Guard{}, fmt.Errorf("the token has %d characters, and may be guessed: %d are needed", len(token), shortest)
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return Guard{}, fmt.Errorf("the token holds blanks, or characters that are not ASCII")
	}
	return Guard{token}, nil
}
