// Package pgcron reads the jobs of pg_cron, from its table cron.job or from CSV, and writes
// calls of cron.schedule.
package pgcron

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/cmd/nextrun/config"
	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
	"github.com/nextrun/nextrun/cmd/nextrun/schedules/crontab"
	"github.com/nextrun/nextrun/internal/statement"
	"github.com/nextrun/nextrun/jobqueue/handlers"
	"github.com/nextrun/nextrun/periodic"
)

// Kind is the format of pg_cron. Fetch reads the rows of the database that a URL
// names, and its cron.timezone; nil: URLs are refused.
type Kind struct {
	Fetch func(ctx context.Context, url string) (jobs []Job, zone, place string, err error)
}

// Job is a row of cron.job.
type Job struct {
	Line               int    // of the file; 0: from the database
	ID                 string // jobid
	Schedule, Command  string
	NodeName, NodePort string
	Database, Username string
	Name               string // jobname; empty: it has none
	Active             bool
}

// Name implements [schedules.Kind].
func (Kind) Name() string { return "pgcron" }

// IsURL reports whether a source is a database rather than a file.
func IsURL(path string) bool {
	return strings.HasPrefix(path, "postgres://") || strings.HasPrefix(path, "postgresql://")
}

// serverOf is the host and port of a URL.
func serverOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return net.JoinHostPort(cmp.Or(u.Hostname(), u.Query().Get("host"), "localhost"), cmp.Or(u.Port(), u.Query().Get("port"), "5432"))
}

// DatabaseOf is the database of a URL, for [schedules.Options]; nil: it is not one of PostgreSQL.
func DatabaseOf(address string) *schedules.Database {
	u, err := url.Parse(address)
	if err != nil || !IsURL(address) {
		return nil
	}
	name, _ := url.PathUnescape(strings.TrimPrefix(u.EscapedPath(), "/"))
	return &schedules.Database{Server: serverOf(address), Name: cmp.Or(name, u.Query().Get("dbname")), User: u.User.Username()}
}

var errNoFetch = errors.New("a database cannot be read here")

// Read implements [schedules.Kind]. A path may be the URL of a database.
func (k Kind) Read(paths []string, o schedules.Options) (items []schedules.Item, err error) {
	for _, path := range paths {
		r := reader{path: path, options: o}
		if IsURL(path) {
			if k.Fetch == nil {
				return nil, errNoFetch
			}
			jobs, zone, place, err := k.Fetch(context.Background(), path)
			if err != nil {
				return nil, err
			}
			r.path, r.place, r.server = place, place, serverOf(path)
			r.options.Zone = cmp.Or(o.Zone, zone)
			for i := range jobs {
				r.job(&jobs[i])
			}
		} else {
			text, err := schedules.ReadFile(path, o)
			if err != nil {
				return nil, err
			}
			r.file(text)
		}
		items = append(items, r.items...)
	}
	return items, nil
}

// reader collects the items of a source.
type reader struct {
	path    string
	place   string // of a database; empty: a file
	server  string // of that database, as host:port
	options schedules.Options
	items   []schedules.Item
}

func (r *reader) refuse(line int, source, why string) {
	r.items = append(r.items, schedules.Item{File: r.path, Line: line, Source: source, Refused: why})
}

// title is how a report calls a job.
func (j *Job) title() string {
	var words []string
	if j.ID != "" {
		words = append(words, "job "+j.ID)
	}
	if j.Name != "" {
		words = append(words, strconv.Quote(j.Name))
	}
	if len(words) == 0 {
		words = []string{"job"}
	}
	return schedules.Shorten(strings.Join(words, " ") + ": " + j.Schedule)
}

// job makes an item of a row.
func (r *reader) job(j *Job) {
	item := schedules.Item{File: r.path, Line: j.Line, Source: j.title()}
	defer func() { r.items = append(r.items, item) }()
	for _, text := range []string{j.Name, j.Schedule, j.Command, j.Database, j.Username, j.NodeName} {
		if err := schedules.CheckText(text); err != nil {
			item.Refused = err.Error()
			return
		}
	}
	timer, err := Timer(j.Schedule, r.options.Zone)
	if err != nil {
		item.Refused = err.Error()
		return
	}
	if strings.TrimSpace(j.Command) == "" {
		item.Refused = "it has no command"
		return
	}
	task := periodic.NewTask("", "", timer)
	task.Enabled, task.Overlap, task.Catchup = j.Active, periodic.OverlapQueue, periodic.CatchupNone
	task.Summary = schedules.Shorten(j.Command)
	if strings.HasPrefix(timer, "every ") {
		item.Change("the seconds count from the creation of the task, not from the end of the last run")
	}
	handler, how := r.inDatabase(j)
	if handler == nil {
		handler = psql(j)
		if how != "" {
			how = "; not in one transaction with the end of its job: " + how
		}
		how = "psql will run the SQL, with the rights that the executor has" + asUser(j.Username) + how
	}
	e := &schedules.Entry{
		Names: j.names(), Origin: schedules.NewOrigin(r.options.Host, r.path), Task: task, Handler: handler,
		Payload: payload{j.Command, j.Database, j.Username},
	}
	if r.place != "" {
		e.Origin = schedules.Origin{Host: "database", Place: r.place}
	}
	item.Change(how)
	item.Entry = e
}

// inDatabase is a handler that runs the SQL of a job in nextrun's own database, and how it does so. If
// there is none although the job is one of this database, how says why.
func (r *reader) inDatabase(j *Job) (h *config.Handler, how string) {
	d := r.options.Database
	switch {
	case d == nil, d.Name == "", j.Database != d.Name, j.host() != "":
		return nil, ""
	case r.server != "" && r.server != d.Server:
		return nil, ""
	}
	s := statement.Work{SQL: j.Command}
	if why := s.Commits(); why != "" {
		why, _, _ = strings.Cut(why, "; use ") // psql does
		return nil, why
	}
	if params := s.Params(); len(params) > 0 {
		return nil, ":" + params[0] + " would be a parameter"
	}
	how = "nextrun will run the SQL in its database " + d.Name + ", in one transaction with the end of the job"
	if j.Username != "" && j.Username != d.User {
		s.Role = j.Username
		how += "; its role must be a member of " + j.Username
	}
	return &config.Handler{SQL: &s}, how
}

// psql is a handler that runs the SQL of a job from outside.
func psql(j *Job) *config.Handler {
	argv := []string{"psql", "--no-psqlrc", "--set=ON_ERROR_STOP=1"}
	for _, part := range [][2]string{{"dbname", j.Database}, {"username", j.Username}, {"host", j.host()}, {"port", j.port()}} {
		if part[1] != "" {
			argv = append(argv, "--"+part[0]+"="+part[1])
		}
	}
	return &config.Handler{Command: &handlers.CommandConfig{Argv: append(argv, "--command="+j.Command)}}
}

// payload are the args of a job whose worker is to run the SQL.
type payload struct {
	SQL      string `json:"sql"`
	Database string `json:"database,omitempty"`
	Username string `json:"username,omitempty"`
}

func asUser(user string) string {
	if user == "" {
		return ""
	}
	return "; it must be able to log in as " + user
}

// host is where psql connects to. What pg_cron calls localhost is its own server, which
// the executor finds by PGHOST or by the socket.
func (j *Job) host() string {
	if j.NodeName == "localhost" || strings.HasPrefix(j.NodeName, "/") {
		return ""
	}
	return j.NodeName
}

func (j *Job) port() string {
	if j.host() == "" {
		return ""
	}
	return j.NodePort
}

// names are the ids that a job may have.
func (j *Job) names() []string {
	name := schedules.Name(j.Name)
	if name == "" {
		name = strings.TrimSuffix("pgcron-"+schedules.Name(j.ID), "-")
	}
	list := []string{name}
	if database := schedules.Name(j.Database); database != "" {
		list = append(list, database+"-"+name)
	}
	return list
}

var (
	seconds = regexp.MustCompile(`(?i)^([0-9]+) +seconds?$`)
	lastDay = regexp.MustCompile(`^(\S+\s+\S+)\s+\$\s+(\S+\s+\S+)$`)
)

// Timer is the timer of a schedule of pg_cron. zone is cron.timezone; empty: GMT, its
// default.
func Timer(schedule, zone string) (string, error) {
	schedule = strings.TrimSpace(schedule)
	if zone == "GMT" || zone == "Etc/UTC" {
		zone = "UTC"
	}
	if m := seconds.FindStringSubmatch(schedule); m != nil {
		n, err := strconv.Atoi(m[1])
		if err != nil || n < 1 || n > 59 {
			return "", fmt.Errorf("%q: pg_cron knows 1 to 59 seconds", schedule)
		}
		return fmt.Sprintf("every %ds", n), nil
	}
	expression := strings.Join(strings.Fields(schedule), " ")
	if expression == "@reboot" || expression == "@restart" {
		return "", fmt.Errorf("%s: no timer elapses when a server starts", expression)
	}
	if nickname, ok := crontab.Nicknames[expression]; ok {
		expression = nickname
	}
	if m := lastDay.FindStringSubmatch(expression); m != nil {
		// The fields are checked with another day, since only nextrun has L.
		if _, err := crontab.Timer(m[1]+" 1 "+m[2], zone); err != nil {
			return "", err
		}
		timer := m[1] + " L " + m[2]
		if zone != "" && zone != "UTC" {
			timer = "CRON_TZ=" + zone + " " + timer
		}
		_, err := calendar.Parse(timer)
		return timer, err
	}
	return crontab.Timer(expression, zone)
}
