package frame

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
)

// NotDone begins what an action says of what it could not do.
const NotDone = " Not done: "

// Partly reports whether an action has done a part only.
func (v View) Partly() bool { return strings.Contains(v.Done, NotDone) }

// Do does what a form asks. It returns a word about it and the page to go back to.
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
		user := cmp.Or(Who(ctx).User, "somebody")
		done, back, err := do(ctx, r, user)
		if err != nil {
			f.Fail(w, r, err)
			return
		}
		f.log.Info("dashboard: action", "user", user, "action", done)
		f.setDone(w, show.Shorten(done, 500)) // ids may be long
		f.back(w, r, back, "done", "")
	}
}

// back leads to a page of the dashboard, with another parameter.
func (f *Frame) back(w http.ResponseWriter, r *http.Request, page, name, value string) {
	to, err := url.Parse(page)
	if err != nil || to.IsAbs() || to.Host != "" || len(page) > 2000 {
		to = &url.URL{Path: "/"}
	}
	q := to.Query()
	q.Del(name)
	if value != "" {
		q.Set(name, value)
	}
	to.RawQuery = q.Encode()
	http.Redirect(w, r, f.prefix+"/"+strings.TrimLeft(to.String(), "/"), http.StatusSeeOther) //nolint:gosec // one slash leads to no other host
}
