package dburl

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

func TestURL(t *testing.T) {
	for text, want := range map[string]string{
		"sqlite:nextrun.db":                                  "sqlite:nextrun.db",
		"sqlite:/var/lib/nextrun/nextrun.db":                 "sqlite:/var/lib/nextrun/nextrun.db",
		"sqlite:///var/lib/nextrun.db":                       "sqlite:/var/lib/nextrun.db",
		"SQLite:a b?c#d%e.db":                                "sqlite:a b?c#d%e.db",
		"sqlite3:x.db":                                       "sqlite:x.db",
		"postgres://host/db":                                 "postgres://host/db",
		"postgresql://host/db":                               "postgresql://host/db",
		"postgres://user@host:5432/db":                       "postgres://user@host:5432/db",
		"postgres://user:hush@host/db":                       "postgres://user:xxxxx@host/db",
		"postgres://user:hu%2Fsh%40%3F@host/db":              "postgres://user:xxxxx@host/db",
		"postgres://user:hu@sh@host/db":                      "postgres://user:xxxxx@host/db",
		"postgres://user@host/db?password=hush":              "postgres://user@host/db?password=xxxxx",
		"postgres://user@host/db?Password=hush&sslmode=off":  "postgres://user@host/db?Password=xxxxx&sslmode=off",
		"postgres:///db?host=/run/postgresql&sslpassword=h":  "postgres:///db?host=%2Frun%2Fpostgresql&sslpassword=xxxxx",
		"postgres://h/db?pasword=hush&sslmode=off":           "postgres://h/db?pasword=xxxxx&sslmode=off",
		"postgres://h/db?token=hush&port=7&timezone=UTC":     "postgres://h/db?port=7&timezone=UTC&token=xxxxx",
		"postgres://h/db?sslkey=hush.pem&passfile=hush":      "postgres://h/db?passfile=xxxxx&sslkey=xxxxx",
		"postgres://h/db?password=hush&password=hush2&pwd=h": "postgres://h/db?password=xxxxx&pwd=xxxxx",
		"postgres://user:@host/db":                           "postgres://user:xxxxx@host/db",
	} {
		l, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := l.Redacted(); got != want {
			t.Errorf("%s is shown as %s, want %s", text, got, want)
		}
	}
}

// badURLs are refused, and hold the password "hush" where one may be.
var badURLs = []string{
	"", "nextrun.db", "mysql://user:hush@host/db", "jdbc:postgresql://host/db?password=hush", "h2:x;PASSWORD=hush", "sqlite:", "sqlite::memory:", "sqlite:a\x00b", "user:hush@host/db",
	"postgres:user:hush@host/db", "postgres://user:hush%zz@host/db", "postgres://user:hu sh@host/db", "postgres://user:hush\x7f@host/db",
	"postgres://user:hush#x@host/db", "postgres://user:12#hush@host/db", "postgres://user:12/hush@host/db", "postgres://user:12?hush@host/db",
	"postgres://user:a@12/hush@host/db", "postgres://user:hush@host:port/db", "postgres://host/db?password=hush%zz",
	"postgres://host/db?password=hush;x", "host=h password=hush", "password=hush", "user hush", "postgres://[hush/db", "hush://", "postgres://user:hush",
	"sqlite:postgres://user:hush@host/db", "sqlite://user:hush@host/db", "sqlite:host=h password=hush", "sqlite:mysql://hush",
	"sqlite:user:hush@host", "sqlite:pwd=hush",
}

func TestBadURLIsNotShown(t *testing.T) {
	for _, text := range badURLs {
		_, err := Parse(text)
		if err == nil {
			t.Errorf("%q was accepted", text)
			continue
		}
		if strings.Contains(err.Error(), "hush") {
			t.Errorf("%q is shown in %q", text, err)
		}
	}
}

// What is no URL of nextrun is recognised, and the message says what to write.
func TestURLOfSomethingElse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"mysql://user:hush@host/db":                      "names MySQL, which nextrun does not support",
		"jdbc:mariadb://host/db?password=hush":           "names MariaDB, which nextrun does not support",
		"jdbc:h2:///var/docspell.db;PASSWORD=hush":       "names H2, which nextrun does not support",
		"jdbc:postgresql://host/db?user=a&password=hush": "begins with jdbc:, as Java writes it",
		"host=h port=5 password=hush":                    "cannot be read (it is not shown",
		"/var/lib/foo.db":                                "did you mean sqlite:/var/lib/foo.db?",
		"sqlite:postgres://u:hush@h":                     "sqlite: needs the path of a file, not a server's URL",
	} {
		_, err := Parse(text)
		forms := strings.Contains(fmt.Sprint(err), "postgres://USER:PASSWORD@HOST")
		if err == nil || !strings.Contains(err.Error(), want) || forms == strings.HasPrefix(text, "/") {
			t.Errorf("%s: %v, want %q, and the forms unless it is a path", text, err, want)
		}
	}
}

func TestScrubKeepsTheErrorWhereItCan(t *testing.T) {
	l, err := Parse("postgres://user:hu%2Fsh@host/db")
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Scrub(context.Canceled); !errors.Is(got, context.Canceled) {
		t.Errorf("scrub lost what %v wraps", got)
	}
	if got := l.Scrub(errors.New("a hu/sh b hu%2Fsh c")).Error(); got != "a xxxxx b xxxxx c" {
		t.Errorf("scrub left %q", got)
	}
	if l.Scrub(nil) != nil {
		t.Error("scrub made an error of nothing")
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range append(badURLs, "postgres://user:pass@host:5432/db?sslmode=disable", "sqlite:x.db") {
		f.Add(text, "")
		f.Add("x", text)
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "HUSH-HUSH"
		_, _ = Parse(before)
		for _, text := range []string{
			"postgres://user:" + before + secret + after + "@host/db",
			"postgres://user:" + url.QueryEscape(before+secret+after) + "@host/db",
			"postgres://host/db?password=" + before + secret + after,
		} {
			u, err := Parse(text)
			shown := fmt.Sprint(err)
			if err == nil {
				shown = u.Redacted()
			}
			if strings.Contains(shown, secret) && !strings.Contains(before+after, "&") {
				t.Errorf("%q is shown as %q", text, shown)
			}
		}
	})
}
