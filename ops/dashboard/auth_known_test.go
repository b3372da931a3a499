package dashboard

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// known has ada with her password.
func known(t *testing.T, l Logins) *passwords {
	t.Helper()
	p, err := newPasswords(usersFile(t, userLine(t, "ada", bcrypt.MinCost)), Act, l)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Those who are known do not wait until the password that somebody else tries is compared.
func TestGuessesHoldUpNobody(t *testing.T) {
	t.Parallel()
	p := known(t, Logins{})
	r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	r.SetBasicAuth("ada", "s3cret")
	p.authorize(r)
	p.checking <- struct{}{} // a guess is compared
	allowed := make(chan Access, 1)
	go func() {
		_, access := p.authorize(r)
		allowed <- access
	}()
	select {
	case access := <-allowed:
		if access != Act {
			t.Errorf("ada may %d", access)
		}
	case <-time.After(storetest.Patience):
		t.Error("ada waits for a guess")
	}
	<-p.checking
}

// Whoever guesses too often from an address is refused, told of, and locks out nobody at another.
// A client that has gone does not wait, and has tried nothing.
func TestGuessesAreLimitedByAddress(t *testing.T) {
	t.Parallel()
	var told []string
	p := known(t, Logins{
		Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")},
		Failed:  func(user string, address netip.Addr, _ int) { told = append(told, user+"@"+address.String()) },
	})
	try := func(from, forwarded, password string) Access {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.RemoteAddr = from
		r.Header.Set("X-Forwarded-For", forwarded)
		r.SetBasicAuth("ada", password)
		_, access := p.authorize(r)
		return access
	}
	for i := range attemptsAtOnce {
		if got := try("10.0.0.1:1", "192.0.2.7, 198.51.100.3", "guess"); got != None {
			t.Fatalf("guess %d: %d", i, got)
		}
	}
	for from, want := range map[[2]string]Access{
		{"10.0.0.1:1", "192.0.2.8, 198.51.100.3"}: TooMany, // the client may write what it likes before
		{"10.0.0.1:1", "198.51.100.4"}:            Act,
		{"198.51.100.3:1", ""}:                    TooMany,
		{"198.51.100.5:1", "198.51.100.3"}:        Act, // it is no proxy
	} {
		p.known = map[[32]byte]bool{}
		if got := try(from[0], from[1], "s3cret"); got != want {
			t.Errorf("%v: %d, want %d", from, got, want)
		}
	}
	_ = try("198.51.100.6:1", "", "s3cret")
	if got := try("198.51.100.3:1", "", "s3cret"); got != Act {
		t.Errorf("ada, who is known, gets %d", got)
	}
	if len(told) == 0 || told[0] != "ada@198.51.100.3" {
		t.Errorf("told of %v", told)
	}
	p.checking <- struct{}{}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	r := httptest.NewRequestWithContext(gone, http.MethodGet, "/", http.NoBody)
	r.SetBasicAuth("ada", "other")
	for range attemptsAtOnce {
		if _, access := p.authorize(r); access != None {
			t.Errorf("who has gone gets %d", access)
		}
	}
	<-p.checking
	p.known = map[[32]byte]bool{}
	if got := try(r.RemoteAddr, "", "s3cret"); got != Act {
		t.Errorf("after those who have gone, ada gets %d", got)
	}
}

// Unknown users are compared with the dearest hash, wherever it stands, so that the time does not tell who exists.
func TestUnknownUsersCostAsMuchAsTheDearest(t *testing.T) {
	t.Parallel()
	lines := ""
	for user, cost := range map[string]int{"ada": bcrypt.MinCost, "bob": bcrypt.MinCost + 2, "eve": bcrypt.MinCost + 1} {
		lines += userLine(t, user, cost)
	}
	p, err := newPasswords(usersFile(t, lines), Act, Logins{})
	if err != nil {
		t.Fatal(err)
	}
	hash, exists, _ := p.find("nobody", [32]byte{})
	if cost, err := bcrypt.Cost(hash); exists || cost != bcrypt.MinCost+2 {
		t.Errorf("they are compared with a hash of the cost %d, %v", cost, err)
	}
}
