package dashboard

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// userLine is that of somebody whose password is s3cret.
func userLine(t *testing.T, name string, cost int) string {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte("s3cret"), cost)
	if err != nil {
		t.Fatal(err)
	}
	return name + ":" + string(hash) + "\n"
}

func usersFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "users")
	replaceUsers(t, path, text)
	return path
}

// replaceUsers puts a file that was written some time ago in the place of another one.
func replaceUsers(t *testing.T, path, text string) {
	t.Helper()
	err := os.WriteFile(path+".new", []byte(text), 0o600)
	if err == nil {
		err = os.Chtimes(path+".new", time.Time{}, time.Now().Add(-time.Minute))
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Whoever is removed from the file of users has no access any more. A file that is no list of users changes nothing.
func TestUsersAreReadAgain(t *testing.T) {
	t.Parallel()
	ada, eve := userLine(t, "ada", bcrypt.MinCost), userLine(t, "eve", bcrypt.MinCost)
	path := usersFile(t, ada+eve)
	var told []error
	authorize, err := Passwords(path, Read, Logins{Replaced: func(err error) { told = append(told, err) }})
	if err != nil {
		t.Fatal(err)
	}
	want := func(when, who string, access Access, times int) {
		t.Helper()
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.SetBasicAuth(who, "s3cret")
		if _, got := authorize(r); got != access || len(told) != times {
			t.Errorf("%s %s may %d, want %d; told %v", when, who, got, access, told)
		}
	}
	want("at first", "eve", Read, 0)
	replaceUsers(t, path, ada)
	want("removed,", "eve", None, 1)
	want("then", "ada", Read, 1)
	replaceUsers(t, path, eve[:24])
	want("with half a file", "ada", Read, 2)
	want("with half a file", "eve", None, 2)
	if told[0] != nil || told[1] == nil {
		t.Errorf("told of %v", told)
	}
}

func TestPasswords(t *testing.T) {
	t.Parallel()
	ada := userLine(t, "ada", bcrypt.MinCost)
	authorize, err := Passwords(usersFile(t, "# people\n\n"+ada), Act, Logins{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time it remembers
		for given, want := range map[[2]string]Access{
			{"ada", "s3cret"}: Act, {"ada", "guess"}: None, {"eve", "s3cret"}: None, {"", ""}: None,
			{"ada", "s3cret" + strings.Repeat("x", 80)}: None,
		} {
			r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
			r.SetBasicAuth(given[0], given[1])
			if user, access := authorize(r); access != want || access != None && user != given[0] {
				t.Errorf("%q with %q: %q may %d, want %d", given[0], given[1], user, access, want)
			}
		}
	}
	if _, access := authorize(httptest.NewRequest(http.MethodGet, "/", http.NoBody)); access != None {
		t.Error("without a password somebody has access")
	}
	for _, bad := range []string{"", "ada:s3cret", "ada", strings.TrimPrefix(ada, "ada"), "ada:$apr1$x$y"} {
		if _, err := Passwords(usersFile(t, bad), Read, Logins{}); err == nil || !strings.Contains(err.Error(), "htpasswd -nB") {
			t.Errorf("%q: %v", bad, err)
		} else if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("the error shows what may be a password: %v", err)
		}
	}
}

func TestUserFromAProxy(t *testing.T) {
	t.Parallel()
	authorize := Header("X-User", []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}, Read)
	for given, want := range map[[2]string]Access{
		{"10.1.2.3:99", "ada"}: Read, {"[::ffff:10.1.2.3]:99", "ada"}: Read,
		{"10.2.2.3:99", "ada"}: None, {"10.1.2.3:99", ""}: None, {"@", "ada"}: None,
	} {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.RemoteAddr = given[0]
		r.Header.Set("X-User", given[1])
		if _, access := authorize(r); access != want {
			t.Errorf("%v: %d, want %d", given, access, want)
		}
		r.Header.Add("X-User", "eve") // a proxy has added a name to the one that the client sent, or the other way round
		if user, access := authorize(r); access != None {
			t.Errorf("%v with two names: %q may %d", given, user, access)
		}
	}
}

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
