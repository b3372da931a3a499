package frame

import (
	"encoding/base64"
	"net/http"

	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
)

// doneCookie holds what an action has done, for the page that follows. An address could hold anybody's text.
const doneCookie = "nextrun_done"

func (f *Frame) setDone(w http.ResponseWriter, text string) {
	//nolint:gosec // it is no secret, and pages are served without TLS, too
	c := http.Cookie{Name: doneCookie, Path: f.prefix + "/", MaxAge: 60, HttpOnly: true, SameSite: http.SameSiteStrictMode}
	if c.Value = base64.RawURLEncoding.EncodeToString([]byte(text)); text == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, &c)
}

// done is what an action has done, which one page says.
func (f *Frame) done(w http.ResponseWriter, r *http.Request) string {
	c, err := r.Cookie(doneCookie)
	if err != nil || isRefresh(r) {
		return ""
	}
	f.setDone(w, "")
	text, _ := base64.RawURLEncoding.DecodeString(c.Value)
	return show.Shorten(show.Printable(string(text)), 400)
}
