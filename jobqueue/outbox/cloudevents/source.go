package cloudevents

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// uriText matches what a URI reference may consist of (RFC 3986, section 2).
// [url.Parse] takes much more than that.
var uriText = regexp.MustCompile(`^([A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$`)

// CheckSource returns an error unless a text can be the attribute source of
// CloudEvents: a URI reference as RFC 3986 defines it. Empty stands for
// [DefaultSource].
func CheckSource(source string) error {
	u, err := url.Parse(source)
	brackets := func(text string) int { return strings.Count(text, "[") + strings.Count(text, "]") }
	if err != nil || !uriText.MatchString(source) || strings.Count(source, "#") > 1 || brackets(source) != brackets(u.Host) {
		return fmt.Errorf("%q is no URI reference; use one such as https://example.org/shop, with other characters percent-encoded", source)
	}
	return nil
}
