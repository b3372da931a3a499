package dashboard

import (
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
)

// policy lets a page load nothing but the files of the dashboard.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// guard refuses what nobody may ask, and sets the headers that every answer has.
func guard(o Options, next http.Handler) http.Handler {
	inner := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		if !o.answersTo(r.Host) {
			http.Error(w, "this dashboard does not answer to the name "+show.Printable(r.Host), http.StatusMisdirectedRequest)
			return
		}
		v, access := frame.Visitor{}, Read
		if o.Authorize != nil {
			v.User, access = o.Authorize(r)
		}
		switch access {
		case TooMany:
			h.Set("Retry-After", "6")
			http.Error(w, "too many failed logins from your address; try again in some seconds", http.StatusTooManyRequests)
			return
		case None:
			if h.Get("WWW-Authenticate") == "" {
				h.Set("WWW-Authenticate", `Basic realm="nextrun", charset="UTF-8"`)
			}
			http.Error(w, "who are you? This dashboard needs a user and a password", http.StatusUnauthorized)
			return
		}
		v.Acts = access >= Act && o.Authorize != nil && !o.ReadOnly
		if r.Method != http.MethodGet && r.Method != http.MethodHead && !v.Acts {
			http.Error(w, "this dashboard only reads", http.StatusForbidden)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
		next.ServeHTTP(w, r.WithContext(frame.With(r.Context(), v)))
	})
	return http.NewCrossOriginProtection().Handler(inner)
}

// answersTo reports whether a request for a host is answered.
func (o Options) answersTo(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	if len(o.Hosts) > 0 {
		return slices.ContainsFunc(o.Hosts, func(h string) bool { return strings.EqualFold(h, name) || strings.EqualFold(h, host) })
	}
	if o.Authorize != nil || name == "localhost" {
		return true
	}
	ip := net.ParseIP(name)
	return ip != nil && ip.IsLoopback()
}
