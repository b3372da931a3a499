package verify

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/foreign"
	"github.com/nextrun/nextrun/internal/proof"
	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// Options are what [Run] needs to know.
type Options struct {
	// Since is the time from which on rows are checked; the zero time: 30 days ago. Rows
	// that were kept for a shorter time, or whose task was changed since, are checked as
	// far as they go.
	Since time.Time
	// Lease is the longest lease of schedulers and executors; 0: 30 seconds.
	Lease time.Duration
	// Timeout bounds the whole run; 0: a minute. What could not be checked in it is named.
	Timeout time.Duration
	// Tasks are the ids of the tasks whose ticks are compared with their timers; nil: all
	// that are enabled.
	Tasks []string
	// Queues are the queues that are not nextrun's own, by the sinks that name them. Those
	// that are a [foreign.Auditor] are checked, too.
	Queues periodic.Submitters
	// Most is how many rows of each finding are named; 0: 20.
	Most int
}

// Level says how sure a finding is.
type Level string

// The levels.
const (
	Violation Level = "violation" // nextrun, or somebody's SQL, has broken a guarantee
	Doubt     Level = "doubt"     // it looks so, but may have another cause, which Remedy names
)

// Finding is something that should not be.
type Finding struct {
	Level     Level
	Check     string
	Guarantee string // G1 to G10; empty: consistency beside them
	Text      string // what is wrong
	Remedy    string
	Rows      []Row
	More      bool // there are more rows than these
}

// Row is one place where it is wrong.
type Row struct {
	About  string // id of a task, job or aggregate, or name of a topic or lock
	Detail string
}

// Report is what [Run] found.
type Report struct {
	Since    time.Time
	Checks   []string  // those that were done
	Findings []Finding // none: all is well
	Undone   []string  // what could not be checked, with the reason
	Tasks    int       // tasks whose ticks were compared with their timers
	Ticks    int       // their ticks
}

// Violated reports whether a finding is a violation.
func (r *Report) Violated() bool {
	for _, f := range r.Findings {
		if f.Level == Violation {
			return true
		}
	}
	return false
}

// Run checks a database. It reads in many short transactions, so it holds up nobody, and
// does not change anything. It returns an error if the database cannot be read at all, or if its
// schema is newer than this program.
func Run(ctx context.Context, db *store.DB, o Options) (*Report, error) {
	service.SetDefault(&o.Lease, 30*time.Second)
	service.SetDefault(&o.Timeout, time.Minute)
	service.SetDefault(&o.Most, 20)
	if o.Since.IsZero() {
		o.Since = time.Now().Add(-30 * 24 * time.Hour)
	}
	if err := db.Ping(ctx); err != nil {
		return nil, err
	}
	if err := migrations.Of(db).CheckVersion(ctx); errors.Is(err, migrations.ErrOther) {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	r := &run{reader: proof.New(sqldb.Of(db)), calendars: periodic.NewTasks(db.Tasks()).Calendars, o: o, report: &Report{Since: o.Since}}
	before, err := r.reader.Tokens(ctx)
	if err != nil {
		r.undone("tokens", err)
	}
	r.step(ctx, "schema", func() error { return r.schema(ctx, migrations.Of(db)) })
	for _, c := range proof.Checks() {
		r.step(ctx, c.Name, func() error { return r.rows(ctx, c) })
	}
	for _, sink := range slices.Sorted(maps.Keys(o.Queues)) {
		if queue, ok := o.Queues[sink].(foreign.Auditor); ok {
			name := "queue " + string(sink)
			r.step(ctx, name, func() error { return r.queue(ctx, name, string(sink), queue) })
		}
	}
	r.step(ctx, timerCheck, func() error { return r.timers(ctx) })
	if before != nil {
		r.step(ctx, "tokens", func() error { return r.tokens(ctx, before) })
	}
	return r.report, nil
}

// run is one call of Run.
type run struct {
	reader    proof.Reader
	calendars *periodic.Calendars
	o         Options
	report    *Report
}

// step does a check, and notes whether it was done.
func (r *run) step(ctx context.Context, name string, check func() error) {
	err := ctx.Err()
	if err == nil {
		err = check()
	}
	if err != nil {
		r.undone(name, err)
		return
	}
	r.report.Checks = append(r.report.Checks, name)
}

func (r *run) undone(name string, err error) {
	reason := err.Error()
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, store.ErrContended) {
		reason = fmt.Sprintf("there was no time for it within %s", r.o.Timeout)
	}
	r.report.Undone = append(r.report.Undone, name+": "+reason)
}

func (r *run) found(f Finding) {
	if len(f.Rows) > r.o.Most {
		f.Rows, f.More = f.Rows[:r.o.Most], true
	}
	r.report.Findings = append(r.report.Findings, f)
}

// rows runs a check of the tables.
func (r *run) rows(ctx context.Context, c proof.Check) error {
	list, err := r.reader.Rows(ctx, c, proof.Bounds{Since: r.o.Since, Lease: r.o.Lease, Most: r.o.Most + 1})
	if err != nil || len(list) == 0 {
		return err
	}
	f := Finding{Level: Violation, Check: c.Name, Guarantee: c.Guarantee, Text: c.Violated, Remedy: c.Remedy}
	if c.Doubtful {
		f.Level = Doubt
	}
	for _, row := range list {
		f.Rows = append(f.Rows, Row{row.About, row.More})
	}
	r.found(f)
	return nil
}

// schema compares the tables with what this version expects.
func (r *run) schema(ctx context.Context, m *migrations.Migrator) error {
	list, err := m.Missing(ctx)
	if err != nil || len(list) == 0 {
		return err
	}
	f := Finding{Level: Violation, Check: "schema", Text: "parts of the schema are missing",
		Remedy: "run the statements that nextrun migrate status prints"}
	for _, o := range list {
		f.Rows = append(f.Rows, Row{o.String(), "is missing"})
	}
	r.found(f)
	return nil
}

// tokens compares fencing tokens with those at the beginning.
func (r *run) tokens(ctx context.Context, before map[string]int64) error {
	after, err := r.reader.Tokens(ctx)
	if err != nil {
		return err
	}
	f := Finding{Level: Violation, Check: "tokens", Guarantee: "G4", Text: "a fencing token fell",
		Remedy: "find out who deletes or changes rows of scheduler_lock, outbox_topic or event_offset by hand: a former holder could write again"}
	for name, was := range before {
		if is, there := after[name]; !there || is < was {
			f.Rows = append(f.Rows, Row{name, fmt.Sprintf("was %d, is %d", was, is)})
		}
	}
	if len(f.Rows) > 0 {
		r.found(f)
	}
	return nil
}
