package frame

import (
	"cmp"
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
)

// NotDone begins what an action says of what it could not do.
const NotDone = " Not done: "

// Partly reports whether an action has done a part only.
func (v View) Partly() bool { return strings.Contains(v.Done, NotDone) }

// Do does what a form asks. The name of the user is empty if nobody is known. It returns a word about it and the page to go back to.
type Do func(ctx context.Context, r *http.Request, user string) (done, back string, err error)

// Action does what a form asks, and goes back to the page with a word about it.
func (f *Frame) Action(do Do) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 2*pageTimeout)
		defer cancel()
		if err := r.ParseForm(); err != nil {
			f.Fail(w, r, Bad("the form cannot be read: %v", err))
			return
		}
		user := Who(ctx).User
		done, back, err := do(ctx, r, user)
		if err != nil {
			f.Fail(w, r, err)
			return
		}
		f.log.Info("dashboard: action", "user", cmp.Or(user, "somebody"), "action", done)
		f.setDone(w, show.Shorten(done, 500)) // ids may be long
		f.back(w, r, back, "done", "")
	}
}

// back leads to a page of the dashboard, with another parameter.
func (f *Frame) back(w http.ResponseWriter, r *http.Request, page, name, value string) {
	http.Redirect(w, r, f.address(page, url.Values{name: {value}}), http.StatusSeeOther) //nolint:gosec // one slash leads to no other host
}

// address is that of a page of the dashboard, with other parameters.
func (f *Frame) address(page string, set url.Values) string {
	to, err := url.Parse(page)
	if err != nil || to.IsAbs() || to.Host != "" || len(page) > 2000 {
		to = &url.URL{Path: "/"}
	}
	q := to.Query()
	for name := range set {
		if q.Del(name); set.Get(name) != "" {
			q[name] = set[name]
		}
	}
	to.RawQuery = q.Encode()
	return f.prefix + "/" + strings.TrimLeft(to.String(), "/")
}

// mostTyped is how many selected rows the address of a form repeats.
const mostTyped = 100

// form is the address of the page whose form could not be used, with what was typed; empty: nobody knows it.
func (f *Frame) form(r *http.Request) string {
	if !r.PostForm.Has("back") {
		return ""
	}
	typed := url.Values{}
	for _, name := range []string{"reason", "until"} {
		typed.Set("typed_"+name, show.Shorten(r.PostForm.Get(name), 200))
	}
	if ids := r.PostForm["id"]; len(ids) <= mostTyped {
		typed["typed_id"] = ids
	}
	return f.address(r.PostForm.Get("back"), typed)
}

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
