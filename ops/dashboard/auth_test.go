package dashboard_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/nextrun/nextrun/ops/dashboard"
)

func TestPasswords(t *testing.T) {
	t.Parallel()
	hash, err := bcrypt.GenerateFromPassword([]byte("s3cret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	authorize, err := dashboard.Passwords(strings.NewReader("# people\n\nada:"+string(hash)+"\n"), dashboard.Act, dashboard.Logins{})
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
		if _, err := dashboard.Passwords(strings.NewReader(bad), dashboard.Read, dashboard.Logins{}); err == nil || !strings.Contains(err.Error(), "htpasswd -nB") {
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
