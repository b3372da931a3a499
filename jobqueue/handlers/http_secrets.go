package handlers

import (
	"cmp"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// maxBody is how much of an answer goes to the job log.
const maxBody = 16 << 10

// shortSecret is the length below which a part of a configured value is taken
// for a word like any other, which a log may have.
const shortSecret = 6

// openHeaders are headers whose values are no secrets.
var openHeaders = []string{"Accept", "Accept-Language", "Content-Type", "Host", "User-Agent"}

// secrets are the configured values that an answer may repeat and a log must not
// have, the longest first: headers, also without the scheme before a token, and
// the URL's query and user part.
func (c HTTPConfig) secrets(target *url.URL) []string {
	var list []string
	add := func(text string) {
		if len(text) >= shortSecret {
			list = append(list, text, url.QueryEscape(text), url.PathEscape(text))
		}
	}
	for name, values := range c.Header {
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

// clean takes the secrets out of a text.
func (c *caller) clean(text string) string {
	for _, secret := range c.secrets {
		text = strings.ReplaceAll(text, secret, "xxxxx")
	}
	return text
}

// quote is the beginning of an answer as the job log may have it. It reads more
// than it returns, so that no part of a secret remains at the cut.
func (c *caller) quote(body io.Reader) string {
	more := 0
	if len(c.secrets) > 0 {
		more = len(c.secrets[0])
	}
	text, _ := io.ReadAll(io.LimitReader(body, int64(maxBody+more))) // what came before an error may help
	clean := c.clean(string(text))
	if len(text) == maxBody+more {
		clean = clean[:len(clean)-more]
	}
	return strings.TrimSpace(clean[:min(len(clean), maxBody)])
}
