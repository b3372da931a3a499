package dashboard

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/nextrun/nextrun/internal/watched"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
)

// Passwords authorises by HTTP Basic authentication against a file of users, a line each:
// a name, a colon and the password's bcrypt hash, as `htpasswd -B` writes them. Everybody
// in it gets the access. Use it behind TLS only, or on this host.
//
// An address has ten failed attempts, and one more every six seconds; beyond, it gets [TooMany]. Those who have
// logged in before are not held up by that.
//
// When the file is replaced, the next request reads it again. Of a file that is not such a list the old content stays, and
// Logins.Replaced hears of it.
func Passwords(path string, access Access, logins Logins) (func(*http.Request) (string, Access), error) {
	p, err := newPasswords(path, access, logins)
	if err != nil {
		return nil, err
	}
	return p.authorize, nil
}

func newPasswords(path string, access Access, logins Logins) (*passwords, error) {
	p := &passwords{path: path, access: access, logins: logins, checking: make(chan struct{}, 1)}
	p.file.Add(path)
	err := p.read()
	return p, err
}

// read reads the file. Who was known has to log in anew.
func (p *passwords) read() error {
	text, err := os.ReadFile(p.path)
	if err != nil {
		return err
	}
	hashes, decoy, dearest := map[string][]byte{}, []byte(nil), 0
	for n, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		user, hash, _ := strings.Cut(line, ":")
		cost, err := bcrypt.Cost([]byte(hash))
		if user == "" || err != nil {
			return fmt.Errorf("line %d: not NAME:HASH with a bcrypt hash; make one with: htpasswd -nB NAME", n+1)
		}
		if hashes[user] = []byte(hash); cost > dearest {
			decoy, dearest = hashes[user], cost
		}
	}
	if decoy == nil {
		return errors.New("no user is in it; make a line with: htpasswd -nB NAME")
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.hashes, p.decoy, p.known = hashes, decoy, map[[32]byte]bool{}
	return nil
}

// passwords checks users. It remembers what was right, since a hash is slow on purpose.
type passwords struct {
	path     string
	file     watched.Files
	access   Access
	logins   Logins
	attempts attempts
	checking chan struct{} // one check at a time, so that guesses cannot use up the processor

	mutex  sync.Mutex // of these; those who are known do not wait for the checks of others
	hashes map[string][]byte
	decoy  []byte // the dearest hash: unknown users are compared with it, so that they take as long
	known  map[[32]byte]bool
}

func (p *passwords) authorize(r *http.Request) (string, Access) {
	user, password, ok := r.BasicAuth()
	if !ok || len(password) > 72 { // more than bcrypt looks at
		return "", None
	}
	if p.file.Changed() {
		if err := p.read(); p.logins.Replaced != nil {
			p.logins.Replaced(err)
		}
	}
	key := sha256.Sum256([]byte(user + "\x00" + password))
	hash, exists, known := p.find(user, key)
	if known {
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
	if bytes.Equal(p.hashes[user], hash) { // else the file was replaced meanwhile
		p.known[key] = true
	}
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

// find returns the hash to compare with, whether the user exists, and whether the password was right before.
func (p *passwords) find(user string, key [32]byte) (hash []byte, exists, known bool) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if hash, exists = p.hashes[user]; !exists {
		hash = p.decoy
	}
	return hash, exists, p.known[key]
}

// Header authorises those whom a proxy has authorised: a request from one of its
// addresses whose header names the user. Everybody else gets nothing. The proxy must
// remove the header from requests that it receives.
func Header(name string, proxies []netip.Prefix, access Access) func(*http.Request) (string, Access) {
	return func(r *http.Request) (string, Access) {
		from, err := netip.ParseAddrPort(r.RemoteAddr)
		user := r.Header.Get(name)
		switch {
		case err != nil, user == "", !within(proxies, from.Addr().Unmap()):
			return "", None
		case len(r.Header.Values(name)) > 1: // the proxy has added its own to one that the client sent
			return "", None
		}
		return show.Shorten(show.Printable(user), 200), access
	}
}

// Logins say how [Passwords] treats those who try to log in. The zero value is useful.
type Logins struct {
	// Proxies are the networks of proxies in front of the dashboard. The address of a client is
	// then the last one in X-Forwarded-For that is not one of theirs. Without them it is the
	// address that the connection comes from, whatever the header says.
	Proxies []netip.Prefix
	// Failed is called for failed logins, each with the client's address. user is empty unless it is
	// one of the list, since people also type passwords there. others is how many more
	// there were since the last call. nil: nothing is called.
	Failed func(user string, address netip.Addr, others int)
	// Replaced is called when the file of users was replaced, with an error if it cannot be used and the old content
	// stays. nil: nothing is called.
	Replaced func(error)
}

// client is the address that a request comes from.
func (l Logins) client(r *http.Request) netip.Addr {
	from, _ := netip.ParseAddrPort(r.RemoteAddr)
	address := from.Addr().Unmap()
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && within(l.Proxies, address); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		address = hop.Unmap()
	}
	return address
}

func within(networks []netip.Prefix, address netip.Addr) bool {
	for _, network := range networks {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

const (
	attemptsAtOnce = 10              // of an address
	attemptEvery   = 6 * time.Second // after that
	toldEvery      = 100 * time.Millisecond
	manyAddresses  = 10_000
)

// attempts counts the failed logins of each address. An address stands for a home or an
// office; of IPv6, a /64 does.
type attempts struct {
	mutex  sync.Mutex
	spent  map[netip.Addr]time.Time // when an address will have all of its attempts again
	swept  time.Time
	told   time.Time
	untold int
}

// household is what stands for an address.
func household(address netip.Addr) netip.Addr {
	if address.Is6() {
		network, _ := address.Prefix(64)
		return network.Addr()
	}
	return address
}

// take uses up an attempt. It reports whether there was one.
func (a *attempts) take(address netip.Addr) bool {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	now := time.Now()
	if len(a.spent) >= manyAddresses && now.Sub(a.swept) > time.Second {
		a.swept = now
		maps.DeleteFunc(a.spent, func(_ netip.Addr, full time.Time) bool { return !full.After(now) })
	}
	full := a.spent[address]
	if full.Before(now) {
		full = now
	}
	if full = full.Add(attemptEvery); full.After(now.Add(attemptsAtOnce * attemptEvery)) {
		return false
	}
	if a.spent == nil {
		a.spent = map[netip.Addr]time.Time{}
	}
	a.spent[address] = full
	return true
}

// giveBack is for an attempt that did not fail.
func (a *attempts) giveBack(address netip.Addr) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.spent[address] = a.spent[address].Add(-attemptEvery)
}

// tell reports whether to tell of a failure now, and how many were not told of before.
func (a *attempts) tell() (now bool, untold int) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if at := time.Now(); at.Sub(a.told) >= toldEvery {
		untold, a.untold, a.told = a.untold, 0, at
		return true, untold
	}
	a.untold++
	return false, 0
}
