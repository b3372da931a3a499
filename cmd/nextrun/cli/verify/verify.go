package verify

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/verify"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// options are the flags of `nextrun verify`.
type options struct {
	since   ui.TimeFlag
	timeout ui.SecondsFlag
	asJSON  bool
}

// Command returns `nextrun verify`.
func Command(env *ui.Env) *cobra.Command {
	o := options{since: ui.TimeFlag{Past: true}}
	command := &cobra.Command{
		Use:   "verify [ID...]",
		Short: "Check on a live database that the guarantees were kept",
		Long: `Check on a live database that each tick has one job and a record, that marks and
leases end, that events are in order, and that the tables are as the migrations
made them. The ticks of each timer are computed anew and compared with those
recorded; with IDs, only those of these tasks. Queues of the configuration are
checked in their own tables. It only reads.

A violation is something that nextrun or somebody's SQL has broken, a doubt
something that may have another cause, which the report names.

Exit code 0: no violation. 3: a violation. 1: not all could be checked. 2: wrong
usage.`,
		Example: `  nextrun verify
  nextrun verify nightly-backup --since 7d
  nextrun verify --json`,
		RunE: func(c *cobra.Command, ids []string) error {
			return env.WithAnyDatabase(c.Context(), store.Options{}, func(db *store.DB) error {
				settings, err := o.settings(env, db, ids)
				if err != nil {
					return err
				}
				tasks, err := periodic.NewTasks(db.Tasks()).List(c.Context(), periodic.TaskFilter{})
				if err == nil { // else the report says why they cannot be read
					env.WarnBlocked(settings.Queues, slices.DeleteFunc(tasks, func(t periodic.Task) bool { return len(ids) > 0 && !slices.Contains(ids, t.ID) }))
				}
				report, err := verify.Run(c.Context(), db, settings)
				if err != nil {
					return err
				}
				return show(env, report, o.asJSON)
			})
		},
	}
	flags := command.Flags()
	flags.Var(&o.since, "since", "check rows from this time on, such as 7d or 2026-03-01 (default 30d)")
	flags.Var(&o.timeout, "timeout", "give up after this time, such as 90 or 10m (default 1m)")
	ui.JSONFlag(command, &o.asJSON)
	return command
}

// settings are what the flags and the configuration say.
func (o *options) settings(env *ui.Env, db *store.DB, ids []string) (verify.Options, error) {
	o.since.Resolve(env.Now(), env.Zone)
	settings := verify.Options{Since: o.since.Value, Tasks: ids}
	if o.timeout.Value != nil {
		settings.Timeout = *o.timeout.Value
	}
	configuration, err := env.Configuration()
	if err != nil {
		return settings, err
	}
	settings.Lease = max(configuration.Scheduler.Lease, configuration.Executor.Lease)
	settings.Queues, err = configuration.BuildQueues(db)
	return settings, err
}

// reportJSON is the report as JSON has it.
func reportJSON(r *verify.Report) ui.Object {
	findings := []ui.Object{}
	for _, f := range r.Findings {
		var rows []ui.Object
		for _, row := range f.Rows {
			rows = append(rows, ui.Object{{"about", row.About}, {"detail", row.Detail}})
		}
		findings = append(findings, ui.Object{
			{"level", f.Level}, {"check", f.Check}, {"guarantee", ui.OrNull(f.Guarantee)}, {"text", f.Text}, {"remedy", f.Remedy},
			{"rows", rows}, {"more", f.More},
		})
	}
	return ui.Object{
		{"since", r.Since}, {"violated", r.Violated()}, {"checks", r.Checks}, {"undone", append([]string{}, r.Undone...)},
		{"tasks", r.Tasks}, {"ticks", r.Ticks}, {"findings", findings},
	}
}

// show writes the report, and returns an error if it is not a good one.
func show(env *ui.Env, r *verify.Report, asJSON bool) error {
	if asJSON {
		if err := env.PrintJSON(reportJSON(r)); err != nil {
			return err
		}
	} else if err := write(env, r); err != nil {
		return err
	}
	violations := 0
	for _, f := range r.Findings {
		if f.Level == verify.Violation {
			violations++
		}
	}
	n := len(r.Undone)
	text := fmt.Sprintf("violations: %d, checks not done: %d", violations, n)
	switch {
	case r.Violated():
		return ui.Foundf("%s", text)
	case n > 0:
		return errors.New(text)
	}
	return nil
}

func write(env *ui.Env, r *verify.Report) error {
	for _, f := range r.Findings {
		if err := writeFinding(env, f); err != nil {
			return err
		}
	}
	for _, text := range r.Undone {
		if err := env.Printf("not checked  %s\n", text); err != nil {
			return err
		}
	}
	return env.Printf("checks: %d, since %s; compared with their timers: %s, %s; findings: %d\n",
		len(r.Checks), env.Moment(r.Since), ui.Counted(r.Tasks, "task"), ui.Counted(r.Ticks, "tick"), len(r.Findings))
}

func writeFinding(env *ui.Env, f verify.Finding) error {
	guarantee := f.Guarantee
	if guarantee != "" {
		guarantee = " of " + guarantee
	}
	if err := env.Printf("%s%s: %s\n", f.Level, guarantee, f.Text); err != nil {
		return err
	}
	for _, row := range f.Rows {
		if err := env.Printf("    %s: %s\n", row.About, row.Detail); err != nil {
			return err
		}
	}
	more := ""
	if f.More {
		more = "    and more\n"
	}
	return env.Printf("%s  what to do: %s\n\n", more, f.Remedy)
}
