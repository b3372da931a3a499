package store

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"
)

// errURL names no part of a URL that could not be read: it may hold a password.
var errURL = errors.New("the database URL cannot be read (it is not shown, since it may hold a password): " +
	"use sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE, and write special characters " +
	"of the password as %XX")

// location is a database URL taken apart.
type location struct {
	sqlite string   // path of the file, or empty
	url    *url.URL // postgres
}

func parseURL(text string) (location, error) {
	scheme, rest, _ := strings.Cut(text, ":")
	switch strings.ToLower(scheme) {
	case "sqlite", "sqlite3":
		rest = strings.TrimPrefix(rest, "//")
		if rest == "" || rest == ":memory:" {
			return location{}, errors.New("sqlite: needs the path of a file, such as sqlite:nextrun.db")
		}
		if strings.ContainsRune(rest, 0) {
			return location{}, errors.New("sqlite: the path contains a NUL character")
		}
		return location{sqlite: rest}, nil
	case "postgres", "postgresql":
		u, err := url.Parse(text)
		if err != nil || u.Opaque != "" {
			return location{}, errURL
		}
		// A password with a / or a ? in it ends up there, and its rest with an @.
		if strings.Contains(u.EscapedPath()+u.RawQuery, "@") {
			return location{}, errURL
		}
		if _, err := url.ParseQuery(u.RawQuery); err != nil || u.Fragment != "" {
			return location{}, errURL
		}
		return location{url: u}, nil
	case "":
		return location{}, errors.New("no database URL; use sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE")
	}
	if isPath(text) {
		return location{}, fmt.Errorf("the database %s is no URL; did you mean sqlite:%s?", text, text)
	}
	return location{}, errURL
}

// isPath reports whether a text can be nothing but the path of a file, without a
// password: no part of a URL, and no list of parameters.
func isPath(text string) bool {
	return !strings.ContainsAny(text, ":@=?#") && !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	})
}

// isSecret reports whether a connection parameter must not be shown, be it
// misspelt.
func isSecret(name string) bool {
	name = strings.ToLower(name)
	return name == "sslkey" || strings.Contains(name, "pass") || strings.Contains(name, "pwd") || strings.Contains(name, "secret")
}

// redacted is the URL as it may be shown.
func (l location) redacted() string {
	if l.url == nil {
		return "sqlite:" + l.sqlite
	}
	shown := *l.url
	query := shown.Query()
	for name := range query {
		if isSecret(name) {
			query.Set(name, "xxxxx")
		}
	}
	shown.RawQuery = query.Encode()
	return shown.Redacted()
}

// scrub replaces the secrets of the URL in a driver's error text.
func (l location) scrub(err error) error {
	if err == nil || l.url == nil {
		return err
	}
	text := err.Error()
	clean := text
	secrets := []string{}
	if password, ok := l.url.User.Password(); ok {
		secrets = append(secrets, password, url.QueryEscape(password), url.PathEscape(password))
	}
	for name, values := range l.url.Query() {
		if isSecret(name) {
			secrets = append(secrets, values...)
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

// Redact returns a database URL as it may be shown: without its password. What
// cannot be read is not shown at all.
func Redact(databaseURL string) string {
	l, err := parseURL(databaseURL)
	if err != nil {
		return "(unreadable database URL)"
	}
	return l.redacted()
}
