package dashboard_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/nextrun/nextrun/ops/dashboard"
)

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
	hash, err := bcrypt.GenerateFromPassword([]byte("s3cret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	ada, eve := "ada:"+string(hash)+"\n", "eve:"+string(hash)+"\n"
	path := usersFile(t, ada+eve)
	var told []error
	authorize, err := dashboard.Passwords(path, dashboard.Read, dashboard.Logins{Replaced: func(err error) { told = append(told, err) }})
	if err != nil {
		t.Fatal(err)
	}
	want := func(when, who string, access dashboard.Access, times int) {
		t.Helper()
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.SetBasicAuth(who, "s3cret")
		if _, got := authorize(r); got != access || len(told) != times {
			t.Errorf("%s %s may %d, want %d; told %v", when, who, got, access, told)
		}
	}
	want("at first", "eve", dashboard.Read, 0)
	replaceUsers(t, path, ada)
	want("removed,", "eve", dashboard.None, 1)
	want("then", "ada", dashboard.Read, 1)
	replaceUsers(t, path, "eve:"+string(hash[:20]))
	want("with half a file", "ada", dashboard.Read, 2)
	want("with half a file", "eve", dashboard.None, 2)
	if told[0] != nil || told[1] == nil {
		t.Errorf("told of %v", told)
	}
}

func TestPasswords(t *testing.T) {
	t.Parallel()
	hash, err := bcrypt.GenerateFromPassword([]byte("s3cret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	authorize, err := dashboard.Passwords(usersFile(t, "# people\n\nada:"+string(hash)+"\n"), dashboard.Act, dashboard.Logins{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time it remembers
		for given, want := range map[[2]string]dashboard.Access{
			{"ada", "s3cret"}: dashboard.Act, {"ada", "guess"}: dashboard.None, {"eve", "s3cret"}: dashboard.None, {"", ""}: dashboard.None,
			{"ada", "s3cret" + strings.Repeat("x", 80)}: dashboard.None,
		} {
			r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
			r.SetBasicAuth(given[0], given[1])
			if user, access := authorize(r); access != want || access != dashboard.None && user != given[0] {
				t.Errorf("%q with %q: %q may %d, want %d", given[0], given[1], user, access, want)
			}
		}
	}
	if _, access := authorize(httptest.NewRequest(http.MethodGet, "/", http.NoBody)); access != dashboard.None {
		t.Error("without a password somebody has access")
	}
	for _, bad := range []string{"", "ada:s3cret", "ada", ":" + string(hash), "ada:$apr1$x$y"} {
		if _, err := dashboard.Passwords(usersFile(t, bad), dashboard.Read, dashboard.Logins{}); err == nil || !strings.Contains(err.Error(), "htpasswd -nB") {
			t.Errorf("%q: %v", bad, err)
		} else if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("the error shows what may be a password: %v", err)
		}
	}
}

func TestUserFromAProxy(t *testing.T) {
	t.Parallel()
	authorize := dashboard.Header("X-User", []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}, dashboard.Read)
	for given, want := range map[[2]string]dashboard.Access{
		{"10.1.2.3:99", "ada"}: dashboard.Read, {"[::ffff:10.1.2.3]:99", "ada"}: dashboard.Read,
		{"10.2.2.3:99", "ada"}: dashboard.None, {"10.1.2.3:99", ""}: dashboard.None, {"@", "ada"}: dashboard.None,
	} {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.RemoteAddr = given[0]
		r.Header.Set("X-User", given[1])
		if _, access := authorize(r); access != want {
			t.Errorf("%v: %d, want %d", given, access, want)
		}
	}
}
