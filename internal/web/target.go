package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// Target is where calls go, as messages may show it, with the secrets that they may
// not show.
type Target struct {
	Host    string
	Path    string // scheme, host and path
	Secrets Secrets
}

// NewTarget returns the target of calls to a URL that [GoodURL] accepts, with
// headers. More are other secrets of the calls.
func NewTarget(target string, header http.Header, more ...string) Target {
	u, err := url.Parse(target)
	if err != nil {
		return Target{}
	}
	return Target{u.Host, u.Scheme + "://" + u.Host + u.Path, NewSecrets(u, header, more...)}
}

// Failure is the error of a call without an answer, without the URL and without
// secrets.
func (t Target) Failure(err error) error {
	var urlErr *url.Error // it quotes the whole URL
	if errors.As(err, &urlErr) {
		err = urlErr.Err
	}
	return t.Secrets.CleanError(err)
}

// GoodURL reports whether calls can go to a URL: it is absolute, http or https.
func GoodURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// GoodMethod reports whether a call can have a method, which are in capital letters; empty is that of the default.
func GoodMethod(name string) bool {
	return name == "" || HeaderName(name) && name == strings.ToUpper(name)
}

// NoRedirects is the CheckRedirect of a client that follows none: a redirect could
// take what is sent, and the secrets in its headers, elsewhere.
func NoRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// MayPass reports whether the same call may succeed later, although it was answered
// with that status.
func MayPass(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return status >= http.StatusInternalServerError
}

// HeaderName reports whether a text is a token, as names of headers are (RFC 9110,
// 5.6.2).
func HeaderName(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}
