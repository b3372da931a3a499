package verify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/store"
)

// Options are what [Run] needs to know.
type Options struct {
	// Since is the time from which on rows are checked; the zero time: 30 days ago. Rows
	// that were kept for a shorter time, or whose task was changed since, are checked as
	// far as they go.
	Since time.Time
	// Lease is that of schedulers; 0: 30 seconds.
	Lease time.Duration
	// Timeout bounds the whole run; 0: a minute. What could not be checked in it is named.
	Timeout time.Duration
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
	Level     Level  `json:"level"`
	Check     string `json:"check"`
	Guarantee string `json:"guarantee,omitempty"` // G1 to G10; empty: consistency beside them
	Text      string `json:"text"`                // what is wrong
	Remedy    string `json:"remedy"`
	Rows      []Row  `json:"rows"`
	More      bool   `json:"more"` // there are more rows than these
}

// Row is one place where it is wrong.
type Row struct {
	About  string `json:"about"` // id of a task, job or aggregate, or name of a topic or lock
	Detail string `json:"detail"`
}

// Report is what [Run] found.
type Report struct {
	Since    time.Time `json:"since"`
	Checks   []string  `json:"checks"`   // those that were done
	Findings []Finding `json:"findings"` // none: all is well
	Undone   []string  `json:"undone"`   // what could not be checked, with the reason
	Tasks    int       `json:"tasks"`    // tasks whose ticks were compared with their timers
	Ticks    int       `json:"ticks"`    // their ticks
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
// does not change anything. It returns an error if the database cannot be read at all, or has the schema of another
// version.
func Run(ctx context.Context, db *store.DB, o Options) (*Report, error) {
	service.SetDefault(&o.Lease, 30*time.Second)
	service.SetDefault(&o.Timeout, time.Minute)
	if o.Since.IsZero() {
		o.Since = time.Now().Add(-30 * 24 * time.Hour)
	}
	if err := migrations.Of(db).CheckVersion(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", db.URL(), err)
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	r := &run{db: sqldb.Of(db), o: o, report: &Report{Since: o.Since, Findings: []Finding{}, Undone: []string{}}}
	for _, c := range checks {
		r.step(ctx, c.Name, func() error { return r.rows(ctx, c) })
	}
	r.step(ctx, timerCheck, func() error { return r.timers(ctx) })
	return r.report, nil
}

// run is one call of Run.
type run struct {
	db     *sqldb.DB
	o      Options
	report *Report
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
	switch {
	case errors.Is(err, store.ErrContended):
		reason = "a statement was ended by its timeout; try it when there is less work, or with more time (--timeout)"
	case errors.Is(err, context.DeadlineExceeded):
		reason = fmt.Sprintf("there was no time for it within %s", r.o.Timeout)
	}
	r.report.Undone = append(r.report.Undone, name+": "+reason)
}

// found adds a finding if there are rows.
func (r *run) found(f Finding) {
	if len(f.Rows) > mostRows {
		f.Rows, f.More = f.Rows[:mostRows], true
	}
	if len(f.Rows) > 0 {
		r.report.Findings = append(r.report.Findings, f)
	}
}
