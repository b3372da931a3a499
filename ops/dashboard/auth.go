package dashboard

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync"

	"golang.org/x/crypto/bcrypt"

	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
)

// Passwords authorises by HTTP Basic authentication against a list of users, a line each:
// a name, a colon and the password's bcrypt hash, as `htpasswd -B` writes them. Everybody
// in it gets the access. Use it behind TLS only, or on this host.
//
// An address has ten failed attempts, and one more every six seconds; beyond, it gets [TooMany]. Those who have
// logged in before are not held up by that.
func Passwords(list io.Reader, access Access, logins Logins) (func(*http.Request) (string, Access), error) {
	p, err := newPasswords(list, access, logins)
	if err != nil {
		return nil, err
	}
	return p.authorize, nil
}

func newPasswords(list io.Reader, access Access, logins Logins) (*passwords, error) {
	p := &passwords{access: access, logins: logins, hashes: map[string][]byte{}, checking: make(chan struct{}, 1), known: map[[32]byte]bool{}}
	lines := bufio.NewScanner(list)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		user, hash, _ := strings.Cut(line, ":")
		if _, err := bcrypt.Cost([]byte(hash)); user == "" || err != nil {
			return nil, fmt.Errorf("line %d: not NAME:HASH with a bcrypt hash; make one with: htpasswd -nB NAME", n)
		}
		p.hashes[user], p.decoy = []byte(hash), []byte(hash)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(p.hashes) == 0 {
		return nil, errors.New("no user is in it; make a line with: htpasswd -nB NAME")
	}
	return p, nil
}

// passwords checks users. It remembers what was right, since a hash is slow on purpose.
type passwords struct {
	access   Access
	logins   Logins
	attempts attempts
	hashes   map[string][]byte
	decoy    []byte // what unknown users are compared with, so that they take as long

	checking chan struct{} // one check at a time, so that guesses cannot use up the processor
	mutex    sync.Mutex    // of known; those who are known do not wait for the checks of others
	known    map[[32]byte]bool
}

func (p *passwords) authorize(r *http.Request) (string, Access) {
	user, password, ok := r.BasicAuth()
	if !ok || len(password) > 72 { // more than bcrypt looks at
		return "", None
	}
	hash, exists := p.hashes[user]
	if !exists {
		hash = p.decoy
	}
	key := sha256.Sum256([]byte(user + "\x00" + password))
	if p.knows(key) {
		return user, p.access
	}
	client := p.logins.client(r)
	if !p.attempts.take(household(client)) {
		return "", TooMany
	}
	select {
	case p.checking <- struct{}{}:
	case <-r.Context().Done(): // the client has gone, and has tried nothing
		p.attempts.giveBack(household(client))
		return "", None
	}
	wrong := bcrypt.CompareHashAndPassword(hash, []byte(password)) != nil || !exists
	<-p.checking
	if wrong {
		if !exists {
			user = ""
		}
		p.failed(user, client)
		return "", None
	}
	p.attempts.giveBack(household(client))
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.known[key] = true
	return user, p.access
}

func (p *passwords) failed(user string, client netip.Addr) {
	if p.logins.Failed == nil {
		return
	}
	if now, others := p.attempts.tell(); now {
		p.logins.Failed(user, client, others)
	}
}

// knows reports whether a user and a password were right before.
func (p *passwords) knows(key [32]byte) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.known[key]
}

// Header authorises those whom a proxy has authorised: a request from one of its
// addresses whose header names the user. Everybody else gets nothing. The proxy must
// remove the header from requests that it receives.
func Header(name string, proxies []netip.Prefix, access Access) func(*http.Request) (string, Access) {
	return func(r *http.Request) (string, Access) {
		from, err := netip.ParseAddrPort(r.RemoteAddr)
		user := r.Header.Get(name)
		if err != nil || user == "" {
			return "", None
		}
		if !within(proxies, from.Addr().Unmap()) {
			return "", None
		}
		return show.Shorten(show.Printable(user), 200), access
	}
}
