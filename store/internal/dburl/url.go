// Package dburl reads database URLs, and shows them without their secrets.
package dburl

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"
)

// forms are the URLs that can be opened.
const forms = "sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE"

// errURL names no part of a URL that could not be read: it may hold a password.
var errURL = errors.New("the database URL cannot be read (it is not shown, since it may hold a password): use " +
	forms + ", and write special characters of the password as %XX")

// URL is a database URL taken apart.
type URL struct {
	SQLite   string   // path of the file, or empty
	Postgres *url.URL // nil for SQLite
}

// Parse reads a database URL. Its errors show no part that may be a secret.
func Parse(text string) (URL, error) {
	scheme, rest, _ := strings.Cut(text, ":")
	switch strings.ToLower(scheme) {
	case "sqlite", "sqlite3":
		return parsePath(strings.TrimPrefix(rest, "//"))
	case "postgres", "postgresql":
		u, err := url.Parse(text)
		if err != nil || u.Opaque != "" {
			return URL{}, errURL
		}
		// A password with a / or a ? in it ends up there, and its rest with an @.
		if strings.Contains(u.EscapedPath()+u.RawQuery, "@") {
			return URL{}, errURL
		}
		if _, err := url.ParseQuery(u.RawQuery); err != nil || u.Fragment != "" {
			return URL{}, errURL
		}
		return URL{Postgres: u}, nil
	case "":
		return URL{}, errors.New("no database URL; use " + forms)
	}
	if err := unsupported(strings.ToLower(text)); err != nil {
		return URL{}, err
	}
	if isPath(text) {
		return URL{}, fmt.Errorf("the database %s is no URL; did you mean sqlite:%s?", text, text)
	}
	return URL{}, errURL
}

// parsePath reads what follows sqlite: in a URL.
func parsePath(path string) (URL, error) {
	if looksLikeServer(path) {
		return URL{}, errors.New("sqlite: needs the path of a file, not a server's URL or a password " +
			"(it is not shown); use " + forms)
	}
	if path == "" || path == ":memory:" || strings.ContainsRune(path, 0) {
		return URL{}, errors.New("sqlite: needs the path of a file, such as sqlite:nextrun.db")
	}
	return URL{SQLite: path}, nil
}

// unsupported is the error for a URL of Java, as Docspell has it, or of a kind of database on which Docspell may run and
// nextrun does not; nil for others.
func unsupported(text string) error {
	rest, jdbc := strings.CutPrefix(text, "jdbc:")
	kind, _, _ := strings.Cut(rest, ":")
	const hidden = "(the rest is not shown, since it may hold a password)"
	if name := map[string]string{"mariadb": "MariaDB", "mysql": "MySQL", "h2": "H2"}[kind]; name != "" {
		return fmt.Errorf("the database URL names %s, which nextrun does not support, also not for Docspell %s; use %s", name, hidden, forms)
	}
	if jdbc {
		return fmt.Errorf("the database URL begins with jdbc:, as Java writes it %s; use %s, with user and password in it", hidden, forms)
	}
	return nil
}

// isPath reports whether a text can be nothing but the path of a file, without a
// password: no part of a URL, and no list of parameters.
func isPath(text string) bool {
	return !strings.ContainsAny(text, ":@=?#") && !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	})
}

// looksLikeServer reports whether what should be the path of a file is a URL or
// a list of parameters, which may hold a password.
func looksLikeServer(path string) bool {
	user, _, at := strings.Cut(path, "@")
	return strings.Contains(path, "://") || at && strings.Contains(user, ":") && !strings.Contains(user, "/") ||
		strings.Contains(path, "=") && isSecret(path)
}

// isSecret reports whether the name of a parameter says that its value is one.
func isSecret(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "pass") || strings.Contains(name, "pwd") || strings.Contains(name, "secret")
}

// shownParameters are the connection parameters whose values are no secrets. All
// others may be, a misspelt password among them.
var shownParameters = map[string]bool{
	"application_name": true, "binary_parameters": true, "client_encoding": true, "connect_timeout": true, "dbname": true,
	"fallback_application_name": true, "host": true, "hostaddr": true, "keepalives": true, "keepalives_count": true,
	"keepalives_idle": true, "keepalives_interval": true, "load_balance_hosts": true, "lock_timeout": true,
	"port": true, "schema": true, "search_path": true, "ssl_max_protocol_version": true, "ssl_min_protocol_version": true, "sslcert": true,
	"sslmode": true, "sslnegotiation": true, "sslrootcert": true, "statement_timeout": true, "target_session_attrs": true,
	"tcp_user_timeout": true, "timezone": true, "user": true,
}

// Redacted is the URL as it may be shown.
func (u URL) Redacted() string {
	if u.Postgres == nil {
		return "sqlite:" + u.SQLite
	}
	shown := *u.Postgres
	query := shown.Query()
	for name := range query {
		if !shownParameters[strings.ToLower(name)] {
			query.Set(name, "xxxxx")
		}
	}
	shown.RawQuery = query.Encode()
	return shown.Redacted()
}

// minSecret is the least length of a value that Scrub takes for a secret although
// the name of its parameter does not say so.
const minSecret = 4

// Scrub replaces the secrets of the URL in a driver's error text.
func (u URL) Scrub(err error) error {
	if err == nil || u.Postgres == nil {
		return err
	}
	text := err.Error()
	clean := text
	secrets := []string{}
	if password, ok := u.Postgres.User.Password(); ok {
		secrets = append(secrets, password, url.QueryEscape(password), url.PathEscape(password))
	}
	for name, values := range u.Postgres.Query() {
		if shownParameters[strings.ToLower(name)] {
			continue
		}
		for _, value := range values {
			if isSecret(name) || len(value) >= minSecret {
				secrets = append(secrets, value, url.QueryEscape(value))
			}
		}
	}
	for _, secret := range secrets {
		if secret != "" {
			clean = strings.ReplaceAll(clean, secret, "xxxxx")
		}
	}
	if clean == text {
		return err
	}
	return fmt.Errorf("%s", clean)
}
