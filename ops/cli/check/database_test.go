package check

import "testing"

func TestVersionsThatAreTooOld(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ server, version, want string }{
		{"postgres", "9.6.24", levelWarning}, {"postgres", "12.22", levelWarning}, {"postgres", "12beta3", levelWarning},
		{"postgres", "13.0", levelOK}, {"postgres", "13beta1", levelOK}, {"postgres", "18.1", levelOK},
		{"sqlite", "3.40.1", levelWarning}, {"sqlite", "3.51.2", levelWarning}, {"sqlite", "3.51.3", levelOK}, {"sqlite", "3.60.0", levelOK},
	} {
		r := &report{}
		map[string]func(string){"postgres": r.checkPostgres, "sqlite": r.checkSQLite}[test.server](test.version)
		if len(r.findings) != 1 || r.findings[0].Level != test.want || r.findings[0].About != test.server {
			t.Errorf("%s %s: %+v, want %s", test.server, test.version, r.findings, test.want)
		}
	}
}
