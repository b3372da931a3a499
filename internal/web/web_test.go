package web_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/web"
)

func TestRetryAfterOutOfRangeIsTheLongestTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const year = 365 * 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"": 0, "0": 0, "120": 2 * time.Minute, "-5": 0, "1e9": 0, "soon": 0, "Sun, 01 Mar 2026 12:01:00 GMT": time.Minute,
		"2147483648": year, "99999999999": year, "99999999999999999999999999": year,
	} {
		if got := web.RetryAfter(text, now); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestSecretsAreTakenOut(t *testing.T) {
	t.Parallel()
	target, err := url.Parse("https://user:pass-word@example.org/hook?key=a+b%2Fc&v=2")
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{"Authorization": {"Bearer tok3n"}, "Accept": {"text/plain"}}
	secrets := web.NewSecrets(target, header, "whsec_MfKQ")
	for _, secret := range []string{
		"pass-word", "key=a+b%2Fc&v=2", "a b/c", "a+b%2Fc", "Bearer tok3n", "tok3n", "whsec_MfKQ", "dXNlcjpwYXNzLXdvcmQ=",
	} {
		if text := secrets.CleanError(errors.New("it said " + secret)).Error(); text != "it said xxxxx" {
			t.Errorf("%s: %s", secret, text)
		}
	}
	for _, word := range []string{"2", "text/plain", "example.org"} {
		if text := secrets.Clean(word); strings.Contains(text, "x"+"xxxx") {
			t.Errorf("%s is no secret, and became %s", word, text)
		}
	}
}

func TestValidHeader(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"": true, "a\tb ä": true, "a\nb": false, "a\rb": false, "\x00": false, "\x7f": false} {
		if web.ValidHeader(text) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}
