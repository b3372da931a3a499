package dashboard

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// Access is what somebody may do.
type Access int

// The kinds of access.
const (
	None Access = iota // nothing
	Read               // look at every page
	Act                // also pause, resume, run, edit, cancel, retry, resend
)

// Options are the settings of [Handler]. With the zero value everybody on this host may
// read and nobody may act.
type Options struct {
	// Prefix is the path below which the handler is mounted, such as /schedules; empty: /.
	Prefix string
	// Authorize says who asks and what they may do. The name is recorded with what they
	// do. nil: everybody may read, and nobody may act.
	Authorize func(*http.Request) (user string, access Access)
	// ReadOnly: nobody may act, whatever Authorize says.
	ReadOnly bool
	// Hosts are the names in the header Host that are answered. Empty: names and
	// addresses of this host if Authorize is nil, otherwise all. The check keeps pages of
	// other sites from reading this one by a DNS name of their own (DNS rebinding).
	Hosts []string
	// Queues are those of [periodic.Config.Submitters], for running a task now.
	Queues map[periodic.Sink]periodic.Submitter
	// Mask are parts of names in args whose values are not shown. nil: DefaultMask.
	Mask []string
	// Logger receives what goes wrong. nil: logrus.StandardLogger().
	Logger logrus.FieldLogger
}

// DefaultMask are the parts of names whose values in args are not shown.
var DefaultMask = []string{"password", "passwd", "secret", "token", "credential", "api_key", "apikey", "private"}

// pageTimeout is how long a page may keep the database busy.
const pageTimeout = 2 * time.Second

//go:embed static
var static embed.FS

//go:embed templates
var templates embed.FS

// server serves the pages. It is safe for concurrent use.
type server struct {
	db    *store.DB
	tasks *periodic.Tasks
	queue *jobqueue.Queue
	frame *frame
	mask  mask
	now   func() time.Time
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
		o.Logger = logrus.StandardLogger()
	}
	s := &server{
		db: db, tasks: periodic.NewTasks(db.Tasks()).With(o.Queues), queue: jobqueue.NewQueue(db.Jobs()),
		frame: &frame{prefix: o.Prefix, log: o.Logger, now: time.Now}, mask: o.Mask, now: time.Now,
	}
	if err := s.frame.parse(); err != nil {
		return nil, err
	}
	return guard(o, http.StripPrefix(o.Prefix, s.routes())), nil
}

// routes are the pages and what can be done on them.
func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /static/", http.FileServerFS(static))
	mux.HandleFunc("GET /{$}", s.frame.page("now", s.nowPage))
	mux.HandleFunc("GET /tasks", s.frame.page("tasks", s.tasksPage))
	mux.HandleFunc("GET /task", s.frame.page("task", s.taskPage))
	mux.HandleFunc("GET /jobs", s.frame.page("jobs", s.jobsPage))
	mux.HandleFunc("GET /job", s.frame.page("job", s.jobPage))
	mux.HandleFunc("GET /events", s.frame.page("events", s.eventsPage))
	mux.HandleFunc("GET /scheduler", s.frame.page("scheduler", s.schedulerPage))
	mux.HandleFunc("GET /timeline", s.frame.page("timeline", s.timelinePage))
	mux.HandleFunc("GET /heatmap", s.frame.page("heatmap", s.heatmapPage))
	mux.HandleFunc("POST /tasks", s.frame.action(s.changeTasks))
	mux.HandleFunc("POST /task", s.frame.action(s.editTask))
	mux.HandleFunc("POST /job", s.frame.action(s.changeJob))
	mux.HandleFunc("POST /events", s.frame.action(s.resendEvents))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.frame.fail(w, r, fmt.Errorf("there is no page %s: %w", r.URL.Path, errNoPage))
	})
	return mux
}

var errNoPage = errors.New("see the links above")

// inputError is an error of whoever asked.
type inputError struct{ message string }

func (e inputError) Error() string { return e.message }

func bad(format string, args ...any) error { return inputError{fmt.Sprintf(format, args...)} }

// status is the HTTP status for an error.
func status(err error) int {
	var input inputError
	switch {
	case errors.As(err, &input):
		return http.StatusBadRequest
	case errors.Is(err, errNoPage), errors.Is(err, store.ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	case errors.Is(err, store.ErrUnavailable), errors.Is(err, store.ErrNoSchema), errors.Is(err, store.ErrBusy):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}
