// Package check holds `nextrun check` and `nextrun status`.
package check

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/jobqueue/handlers"
	"github.com/nextrun/nextrun/ops/cli/service"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/config"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/ops/internal/why"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// options are the flags of `nextrun check`.
type options struct {
	strict, asJSON, guarantees bool
	since                      ui.TimeFlag
	timeout                    time.Duration
}

// Command returns `nextrun check`.
func Command(env *ui.Env) *cobra.Command {
	o := options{since: ui.TimeFlag{Past: true}}
	command := &cobra.Command{
		Use:   "check",
		Short: "Check configuration, database and tasks",
		Long: `Check the configuration, the database and the tasks. An error is something that
does not work, a warning something that probably does not do what you want, a note
something to know.

--guarantees checks something else, on a live database: that each tick has one job
and a record, that marks and leases end, and that events are in order. The ticks of
each timer are computed anew and compared with those recorded. A violation is
something that nextrun or somebody's SQL has broken, a doubt something that may have
another cause, which the report names.

Exit code 0: no errors. 3: errors or violations, or with --strict warnings. 1: not
all could be checked. 2: wrong usage.`,
		Example: `  nextrun check --config nextrun.yaml
  nextrun check --strict --json
  nextrun check --guarantees --since 7d`,
		Args: ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if o.guarantees && o.strict {
				return ui.Usagef("--strict does not go with --guarantees, whose violations always count")
			}
			if o.guarantees {
				return checkGuarantees(c.Context(), env, o)
			}
			r := &report{env: env}
			r.check(c.Context())
			return r.print(o)
		},
	}
	command.Flags().BoolVar(&o.strict, "strict", false, "fail on warnings, too")
	command.Flags().BoolVar(&o.guarantees, "guarantees", false, "check that the guarantees were kept")
	command.Flags().Var(&o.since, "since", "with --guarantees: check rows from this time on, such as 7d or 2026-03-01 (default 30d)")
	command.Flags().DurationVar(&o.timeout, "timeout", time.Minute, "with --guarantees: give up after this time, such as 90s or 10m")
	ui.JSONFlag(command, &o.asJSON)
	return command
}

// The levels of findings.
const (
	levelOK      = "ok"
	levelNote    = "note"
	levelWarning = "warning"
	levelError   = "error"
)

// finding is one line of the report.
type finding struct {
	Level string `json:"level"`
	About string `json:"about"`
	Text  string `json:"text"`

	code view.Code // of package why; empty: of none
}

// report is what `nextrun check` finds.
type report struct {
	env      *ui.Env
	config   *config.Config // nil: it is wrong
	db       *store.DB
	docspell bool            // the database is Docspell's
	queues   ui.Queues       // of the configuration; nil: not known, since it is wrong
	tasks    []periodic.Task // all, in the order of their ids
	findings []finding
	ended    bool // before all was checked
}

func (r *report) add(level, about, format string, args ...any) {
	r.findings = append(r.findings, finding{Level: level, About: about, Text: fmt.Sprintf(format, args...)})
}

func (r *report) warn(about, format string, args ...any) { r.add(levelWarning, about, format, args...) }

// explain adds a finding of package why, with what to do.
func (r *report) explain(about string, f why.Finding) {
	do := r.env.Hint(f.Do)
	if strings.HasPrefix(do, "nextrun ") {
		do = "To do: " + do
	} else if do != "" {
		do = strings.ToUpper(do[:1]) + do[1:]
	}
	r.findings = append(r.findings, finding{levelWarning, about, strings.TrimSpace(f.Text + " " + do), f.Code})
}

// undone notes why not all could be checked.
func (r *report) undone(about string, err error) {
	r.ended = true
	r.add(levelError, about, "%v", err)
}

// errNoTables is the error of a check after which no other can be done.
var errNoTables = errors.New("the tables cannot be read")

func (r *report) check(ctx context.Context) {
	var options store.Options
	if r.checkConfiguration(); r.config != nil {
		options = r.config.Database
	}
	err := r.env.WithAnyDatabase(ctx, options, func(db *store.DB) error {
		r.db = db
		r.add(levelOK, "database", "%s", db.URL())
		for _, check := range []func(context.Context) error{
			r.checkVersion, r.checkServices, r.checkStatements, r.checkSchema, r.checkDocspell, r.checkQueues, r.checkTasks,
			r.checkZones, r.checkOverdue, r.checkQueued, r.checkEvents, r.checkHooks,
		} {
			if err := check(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, errNoTables) {
		r.undone("database", err)
	}
}

func (r *report) checkConfiguration() {
	c, err := r.env.Configuration()
	var configErr *config.Error
	switch {
	case errors.As(err, &configErr):
		for _, problem := range configErr.Problems {
			one := &config.Error{Path: configErr.Path, Problems: []config.Problem{problem}}
			r.add(levelError, "configuration", "%v", one)
		}
		return
	case err != nil:
		r.undone("configuration", err)
		return
	}
	if r.config = c; c.Path == "" {
		r.add(levelOK, "configuration", "there is none, so all settings are default and there are no handlers")
		return
	}
	r.add(levelOK, "configuration", "%s: handlers: %d", c.Path, len(c.Handlers))
	for _, task := range slices.Sorted(maps.Keys(c.Handlers)) {
		if command := c.Handlers[task].Command; command != nil && !canRun(command) {
			r.warn("handler "+task, "there is no program %s here", command.Argv[0])
		}
	}
}

// canRun reports whether the program of a command is there.
func canRun(command *handlers.CommandConfig) bool {
	program := command.Argv[0]
	if strings.Contains(program, "/") && !filepath.IsAbs(program) {
		path, err := filepath.Abs(filepath.Join(command.Dir, program))
		if err != nil {
			return false
		}
		program = path
	}
	_, err := exec.LookPath(program)
	return err == nil
}

// checkServices makes what the configuration says, without starting it.
func (r *report) checkServices(ctx context.Context) error {
	if r.config == nil {
		return nil
	}
	built, err := service.Verify(ctx, r.env, r.config, r.db)
	if r.queues = ui.Queues(built); err != nil {
		r.misconfigured(err)
	}
	return nil
}

// misconfigured reports each of the errors of a configuration, unless it is part of one that has been reported: those of
// different parts of a process may be the same.
func (r *report) misconfigured(err error) {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range several.Unwrap() {
			r.misconfigured(one)
		}
		return
	}
	about, place := "configuration", r.config.Path+": "
	text := strings.TrimPrefix(err.Error(), place)
	reported := func(f finding) bool { return f.About == about && strings.Contains(f.Text, text) }
	if !slices.ContainsFunc(r.findings, reported) {
		r.add(levelError, about, "%s%s", place, text)
	}
}

func (r *report) print(o options) error {
	t := ui.NewTable("LEVEL", "ABOUT", "FINDING").Wrap()
	count := map[string]int{}
	for _, f := range r.findings {
		count[f.Level]++
		t.Add(f.Level, f.About, f.Text)
	}
	if err := r.env.PrintTable(t, r.findings, o.asJSON); err != nil {
		return err
	}
	text := fmt.Sprintf("errors: %d, warnings: %d", count[levelError], count[levelWarning])
	switch {
	case r.ended:
		return fmt.Errorf("%s; not all could be checked", text)
	case count[levelError] > 0 || o.strict && count[levelWarning] > 0:
		return ui.Foundf("%s", text)
	}
	return nil
}
