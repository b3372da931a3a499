package web

import (
	"cmp"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// shortSecret is the length below which a part of a configured value is taken
// for a word like any other, which a log may have.
const shortSecret = 4

// openHeaders are headers whose values are no secrets.
var openHeaders = []string{"Accept", "Accept-Language", "Content-Type", "Host", "User-Agent"}

// Secrets are configured values that an answer or an error may repeat and a log
// must not have, the longest first.
type Secrets []string

// NewSecrets returns the secrets of calls: headers, also without the scheme before
// a token, the URL's query and user part, and more.
func NewSecrets(target *url.URL, header http.Header, more ...string) Secrets {
	var list Secrets
	add := func(text string) {
		if len(text) >= shortSecret {
			list = append(list, text, url.QueryEscape(text), url.PathEscape(text))
		}
	}
	for _, text := range more {
		add(text)
	}
	for name, values := range header {
		if slices.Contains(openHeaders, http.CanonicalHeaderKey(name)) {
			continue
		}
		for _, value := range values {
			if _, token, found := strings.Cut(value, " "); found {
				add(strings.TrimSpace(token))
			}
			add(value)
		}
	}
	add(target.RawQuery)
	for _, values := range target.Query() {
		for _, value := range values {
			add(value)
		}
	}
	if password, ok := target.User.Password(); ok {
		add(password)
		add(base64.StdEncoding.EncodeToString([]byte(target.User.Username() + ":" + password)))
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.Compact(list)
}

// minToken is the length from which a part of a path may be a token.
const minToken = 8

// PathSecrets are the path of a URL and the parts of it that may be tokens, since that is where many services have them.
func PathSecrets(target string) []string {
	u, err := url.Parse(target)
	if err != nil {
		return nil
	}
	secrets := []string{u.Path, u.EscapedPath()}
	for part := range strings.SplitSeq(u.Path, "/") {
		if len(part) >= minToken {
			secrets = append(secrets, part)
		}
	}
	return secrets
}

// Clean takes the secrets out of a text.
func (s Secrets) Clean(text string) string {
	for _, secret := range s {
		text = strings.ReplaceAll(text, secret, "xxxxx")
	}
	return text
}

// CleanError takes the secrets out of the text of an error.
func (s Secrets) CleanError(err error) error {
	text := err.Error()
	if clean := s.Clean(text); clean != text {
		return errors.New(clean)
	}
	return err
}
