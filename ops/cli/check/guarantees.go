package check

import (
	"context"
	"errors"
	"fmt"

	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/verify"
	"github.com/nextrun/nextrun/store"
)

// checkGuarantees checks on a live database that the guarantees were kept. It only reads.
func checkGuarantees(ctx context.Context, env *ui.Env, o options) error {
	o.since.Resolve(env.Now(), env.Zone)
	settings := verify.Options{Since: o.since.Value}
	if o.timeout.Value != nil {
		settings.Timeout = *o.timeout.Value
	}
	configuration, err := env.Configuration()
	if err != nil {
		return err
	}
	settings.Lease = configuration.Scheduler.Lease
	return env.WithAnyDatabase(ctx, store.Options{}, func(db *store.DB) error {
		report, err := verify.Run(ctx, db, settings)
		if err != nil {
			return err
		}
		return showGuarantees(env, report, o.asJSON)
	})
}

// showGuarantees writes the report, and returns an error if it is not a good one.
func showGuarantees(env *ui.Env, r *verify.Report, asJSON bool) error {
	if asJSON {
		if err := env.PrintJSON(r); err != nil {
			return err
		}
	} else if err := writeGuarantees(env, r); err != nil {
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

func writeGuarantees(env *ui.Env, r *verify.Report) error {
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
