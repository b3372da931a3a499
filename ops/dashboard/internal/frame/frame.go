// Package frame has what all pages have in common: it renders templates, answers as HTML,
// as a part of it or as JSON, and knows who asks.
package frame

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
)

// View is what the templates of a page get.
type View struct {
	Page   string // its name
	Title  string
	Prefix string
	User   string
	Acts   bool
	Now    time.Time
	Done   string // what an action has done
	Zone   *time.Location
	Chosen bool   // somebody has chosen the zone, or the address names it
	Here   string // the page's address below the prefix
	Tag    string // of the data
	Data   any
}

// sections are the pages of the menu that others belong to.
var sections = map[string]string{"task": "tasks", "run": "runs"}

// ZoneName is the zone in short: its place.
func (v View) ZoneName() string {
	name := v.Zone.String()
	return strings.ReplaceAll(name[strings.LastIndexByte(name, '/')+1:], "_", " ")
}

// Section is the page of the menu that this one belongs to.
func (v View) Section() string { return cmp.Or(sections[v.Page], v.Page) }

// Path is an address of the dashboard: a page and its parameters, in pairs.
func (v View) Path(page string, pairs ...any) string { return Path(v.Prefix, page, pairs...) }

// Path is an address below a prefix: a page and its parameters, in pairs, of which the last one of a name counts. It leaves out
// those that are empty.
func Path(prefix, page string, pairs ...any) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(fmt.Sprint(pairs[i]), fmt.Sprint(pairs[i+1]))
	}
	maps.DeleteFunc(q, func(_ string, values []string) bool { return values[0] == "" })
	at := prefix + "/" + page
	if len(q) > 0 {
		at += "?" + q.Encode()
	}
	return at
}

// Frame is what all pages have in common: the templates, the answers in the form that is
// asked for, and errors. It is safe for concurrent use.
type Frame struct {
	prefix string
	pages  map[string]*template.Template
	log    *slog.Logger
}

// New reads the templates of a folder: each page is one, within the same frame.
func New(folder fs.FS, prefix string, log *slog.Logger) (*Frame, error) {
	f := &Frame{prefix: prefix, pages: map[string]*template.Template{}, log: log}
	outer, err := template.New("frame.html").Funcs(functions()).ParseFS(folder, "frame.html", "parts.html")
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	names, err := fs.Glob(folder, "*.html")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		page := strings.TrimSuffix(path.Base(name), ".html")
		if page == "frame" || page == "parts" {
			continue
		}
		if f.pages[page], err = template.Must(outer.Clone()).ParseFS(folder, name); err != nil {
			return nil, fmt.Errorf("dashboard: %w", err)
		}
	}
	return f, nil
}

// pageTimeout is how long a page may keep the database busy.
const pageTimeout = 2 * time.Second

// Load reads the data of a page.
type Load func(ctx context.Context, r *http.Request) (any, error)

// Page answers with what load returns: as HTML, as the part of it that changes, or as
// JSON.
func (f *Frame) Page(name string, load Load) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), pageTimeout)
		defer cancel()
		if name := r.URL.Query().Get("zone"); name != "" && zoneNamed(name) == nil {
			f.Fail(w, r, unknownZone(name))
			return
		}
		data, err := load(ctx, r)
		if err != nil {
			f.Fail(w, r, err)
			return
		}
		content, err := json.Marshal(data)
		if err != nil {
			f.Fail(w, r, err)
			return
		}
		if r.URL.Query().Get("format") == "json" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(append(content, '\n'))
			return
		}
		tag := f.tag(r, content)
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		f.render(w, r, name, http.StatusOK, data)
	}
}

// isRefresh reports whether the script of a page asks for what has changed.
func isRefresh(r *http.Request) bool { return r.Header.Get("X-Part") == "main" }

// tag is of all that a page is made of, but for how far times are away: that changes every
// second, and the script of the page knows it.
func (f *Frame) tag(r *http.Request, content []byte) string {
	v, zone := Who(r.Context()), Zone(r)
	return `"` + Digest(string(fmt.Appendf(content, "%q %t %s %s", v.User, v.Acts, zone, time.Now().In(zone).Format(time.DateOnly)))) + `"`
}

// Digest is a short text that differs for texts that differ.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// render writes a page, or for the script that refreshes it only its main part.
func (f *Frame) render(w http.ResponseWriter, r *http.Request, name string, code int, data any) {
	part := "frame.html"
	if isRefresh(r) {
		part = "main"
	}
	v := Who(r.Context())
	zone, chosen := zoneOf(r)
	var out bytes.Buffer
	err := f.pages[name].ExecuteTemplate(&out, part, View{
		Page: name, Title: strings.ToUpper(name[:1]) + name[1:], Prefix: f.prefix, User: v.User, Acts: v.Acts,
		Now: time.Now().UTC(), Done: f.done(w, r), Zone: zone, Chosen: chosen, Data: data,
		Here: strings.TrimPrefix(r.URL.RequestURI(), f.prefix), Tag: w.Header().Get("ETag"),
	})
	if err != nil {
		f.log.Error("dashboard: page failed", "error", err, "page", name)
		http.Error(w, "the page could not be made; the log of the process says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = out.WriteTo(w)
}

// failure is the data of the error page.
type failure struct {
	Error string `json:"error"`
	Away  bool   `json:"-"` // the database is, or is busy
	Slow  bool   `json:"-"` // it took too long
	Form  string `json:"-"` // where the form is that could not be used
}

// Fail answers with an error, in the form that was asked for.
func (f *Frame) Fail(w http.ResponseWriter, r *http.Request, err error) {
	code := status(err)
	if code >= http.StatusInternalServerError {
		f.log.Error("dashboard: request failed", "error", err, "path", show.Printable(r.URL.Path))
	}
	slow := code == http.StatusGatewayTimeout
	shown := failure{show.Shorten(show.Printable(err.Error()), 1000), slow || code == http.StatusServiceUnavailable, slow, f.form(r)}
	if slow {
		shown.Error = fmt.Sprintf("it took longer than %s to read this page: the database or the machine is busy; try again", text.Text(pageTimeout))
	}
	if r.URL.Query().Get("format") == "json" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(shown)
		return
	}
	f.render(w, r, "error", code, shown)
}
