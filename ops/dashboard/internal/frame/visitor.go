package frame

import (
	"context"
	"net/http"
	"time"

	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
)

// Visitor is who asks.
type Visitor struct {
	User string
	Acts bool // may change something
}

type visitorKey struct{}

// With returns a context of a request of a visitor.
func With(ctx context.Context, v Visitor) context.Context {
	return context.WithValue(ctx, visitorKey{}, v)
}

// Who is the visitor of a request.
func Who(ctx context.Context) Visitor {
	v, _ := ctx.Value(visitorKey{}).(Visitor)
	return v
}

// zoneCookie holds the zone that somebody wants to see times in.
const zoneCookie = "nextrun_zone"

// Zone is the zone in which a page shows times: that of the address, otherwise the one that was
// chosen, otherwise UTC.
func Zone(r *http.Request) *time.Location {
	zone, _ := zoneOf(r)
	return zone
}

// zoneOf also says whether somebody has chosen it.
func zoneOf(r *http.Request) (zone *time.Location, chosen bool) {
	if zone := zoneNamed(r.URL.Query().Get("zone")); zone != nil {
		return zone, true
	}
	if c, err := r.Cookie(zoneCookie); err == nil {
		if zone := zoneNamed(c.Value); zone != nil {
			return zone, true
		}
	}
	return time.UTC, false
}

// zoneNamed is a zone, or nil if there is none of that name. Local is not one: nobody knows
// whose it is.
func zoneNamed(name string) *time.Location {
	if name == "" || name == "Local" || len(name) > 64 {
		return nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	return zone
}

func unknownZone(name string) error {
	return Bad("unknown time zone %q; use a name such as Europe/Berlin", show.Printable(name))
}

// ChooseZone keeps the zone that somebody wants to see times in, and goes back to the page.
func (f *Frame) ChooseZone(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("zone")
	if zoneNamed(name) == nil {
		f.Fail(w, r, unknownZone(name))
		return
	}
	//nolint:gosec // it is no secret, and pages are served without TLS, too
	http.SetCookie(w, &http.Cookie{Name: zoneCookie, Value: name, Path: f.prefix + "/", MaxAge: 365 * 86400, HttpOnly: true, SameSite: http.SameSiteLaxMode})
	f.back(w, r, r.URL.Query().Get("back"), "zone", "")
}
