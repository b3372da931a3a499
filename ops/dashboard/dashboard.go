// Package dashboard is a page that answers at a glance: did it run, when does it run
// next, and why not? A program mounts it:
//
//	pages, err := dashboard.Handler(db, dashboard.Options{Prefix: "/schedules"})
//	mux.Handle("/schedules/", pages)
//
// Without more it only reads, and answers to names of this host only. To let people act,
// say who they are with [Options.Authorize]. Every page is also JSON: add ?format=json.
//
// # Safety
//
// A page costs the database one short transaction that reads, and is given up after two
// seconds. Give [Handler] a store with a small pool of its own, so that pages never wait
// in the way of a scheduler. Requests that change something are POST only, refused from
// other origins (net/http.CrossOriginProtection), and refused unless Authorize allows
// them; who did it is recorded in the row. Args and logs are escaped, shortened, and
// masked by key.
package dashboard

import (
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// Access is what somebody may do.
type Access int

// The kinds of access.
const (
	// TooMany: who asks has failed to log in too often. It is answered with 429.
	TooMany Access = iota - 1

	None // nothing
	Read // look at every page
	Act  // also pause, resume, run, edit, cancel, retry, resend
)

// Options are the settings of [Handler]. With the zero value everybody on this host may
// read and nobody may act.
type Options struct {
	// Prefix is the path below which browsers reach the handler, such as /schedules, whether a proxy before it takes the
	// path off or not; empty: /.
	Prefix string
	// Authorize says who asks and what they may do. The name is logged with what they
	// do. nil: everybody may read, and nobody may act.
	Authorize func(*http.Request) (user string, access Access)
	// ReadOnly: nobody may act, whatever Authorize says.
	ReadOnly bool
	// Hosts are the names in the header Host that are answered. Empty: names and
	// addresses of this host if Authorize is nil, otherwise all. The check keeps pages of
	// other sites from reading this one by a DNS name of their own (DNS rebinding).
	Hosts []string
	// Queues are those of [scheduler.Config.Submitters], for running a task now.
	Queues periodic.Submitters
	// Mask are parts of names in args whose values are not shown. nil: DefaultMask.
	Mask []string
	// Logger receives what goes wrong. nil: slog.Default().
	Logger *slog.Logger
}

// DefaultMask are the parts of names whose values in args are not shown.
var DefaultMask = []string{"password", "passwd", "secret", "token", "credential", "api_key", "apikey", "private"}

//go:embed static
var static embed.FS

//go:embed templates
var templates embed.FS

// server serves the pages. It is safe for concurrent use.
type server struct {
	source

	queue    *jobqueue.Queue
	frame    *frame.Frame
	troubled kept[[]periodic.Task] // the tasks that need attention
	ended    kept[endings]         // of the last day
}

// source reads the parts of which pages are made.
type source struct {
	db     *store.DB
	tasks  *periodic.Tasks
	queues periodic.Submitters
	prefix string
	mask   show.Mask
}

// Handler returns the dashboard of a database. It returns an error if an option is not
// valid.
func Handler(db *store.DB, o Options) (http.Handler, error) {
	o.Prefix = strings.TrimRight(o.Prefix, "/")
	if o.Prefix != "" && !strings.HasPrefix(o.Prefix, "/") {
		return nil, fmt.Errorf("dashboard: Prefix is %q; use a path that begins with /, such as /schedules", o.Prefix)
	}
	if o.Mask == nil {
		o.Mask = DefaultMask
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	s := &server{
		source: source{db, periodic.NewTasks(db.Tasks()).With(o.Queues), o.Queues, o.Prefix, o.Mask},
		queue:  jobqueue.NewQueue(db.Jobs()),
	}
	pages, err := fs.Sub(templates, "templates")
	if err != nil {
		return nil, err
	}
	if s.frame, err = frame.New(pages, o.Prefix, o.Logger); err != nil {
		return nil, err
	}
	return frame.Gzip(guard(o, below(o.Prefix, s.routes()))), nil
}

// below serves what is below a prefix, and also what a proxy has taken the prefix off.
func below(prefix string, next http.Handler) http.Handler {
	stripped := http.StripPrefix(prefix, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case prefix != "" && r.URL.Path == prefix:
			http.Redirect(w, r, prefix+"/", http.StatusMovedPermanently)
		case strings.HasPrefix(r.URL.Path, prefix+"/"):
			stripped.ServeHTTP(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// routes are the pages and what can be done on them.
func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	action := func(do frame.Do) http.HandlerFunc {
		act := s.frame.Action(do)
		return func(w http.ResponseWriter, r *http.Request) {
			act(w, r)
			s.troubled.forget()
			s.ended.forget()
		}
	}
	mux.Handle("GET /static/", http.FileServerFS(static))
	mux.HandleFunc("GET /{$}", s.frame.Page("now", s.nowPage))
	mux.HandleFunc("GET /tasks", s.frame.Page("tasks", s.tasksPage))
	mux.HandleFunc("GET /task", s.frame.Page("task", s.taskPage))
	mux.HandleFunc("GET /runs", s.frame.Page("runs", s.runsPage))
	mux.HandleFunc("GET /run", s.frame.Page("run", s.runPage))
	mux.HandleFunc("GET /timeline", s.frame.Page("timeline", s.timelinePage))
	mux.HandleFunc("GET /system", s.frame.Page("system", s.systemPage))
	mux.HandleFunc("GET /jump", s.jump)
	mux.HandleFunc("GET /zone", s.frame.ChooseZone)
	mux.HandleFunc("POST /tasks", action(s.changeTasks))
	mux.HandleFunc("POST /task", action(s.editTask))
	mux.HandleFunc("POST /run", action(s.changeJobs))
	mux.HandleFunc("POST /system", action(s.resendEvents))
	noPage := func(w http.ResponseWriter, r *http.Request) {
		s.frame.Fail(w, r, fmt.Errorf("there is no page %s: %w", r.URL.Path, frame.ErrNoPage))
	}
	mux.HandleFunc("GET /static/{$}", noPage) // no list of files
	mux.HandleFunc("GET /static/fonts/{$}", noPage)
	mux.HandleFunc("GET /", noPage) // other methods: 405
	return mux
}
