package frame

import (
	"encoding/base64"
	"log/slog"
	"net/http"
	"sync"
	"time"

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

// actedEvery is how often an action that somebody repeats is logged.
const actedEvery = time.Second

// acted is the last action that was logged.
type acted struct {
	mutex    sync.Mutex
	what     [2]string
	at       time.Time
	repeated int // since then
}

// tell logs an action, but one that is repeated at once only now and then, with their number.
func (a *acted) tell(log *slog.Logger, user, done string) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	what, now := [2]string{user, done}, time.Now()
	if what == a.what && now.Sub(a.at) < actedEvery {
		a.repeated++
		return
	}
	if a.repeated > 0 {
		log = log.With("repeated_before", a.repeated)
	}
	log.Info("dashboard: action", "user", user, "action", done)
	a.what, a.at, a.repeated = what, now, 0
}
