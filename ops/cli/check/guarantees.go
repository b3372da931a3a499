package check

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/verify"
	"github.com/nextrun/nextrun/store"
)

// checkGuarantees checks on a live database that the guarantees were kept. It only reads.
func checkGuarantees(ctx context.Context, env *ui.Env, o options) error {
	settings := verify.Options{Since: o.since.Value, Timeout: o.timeout}
	configuration, err := env.Configuration()
	if err != nil {
		return err
	}
	settings.Lease = configuration.Scheduler.Lease
	// A statement may take all of the time: it reads, and holds up nobody.
	return env.WithAnyDatabase(ctx, store.Options{StatementTimeout: o.timeout}, func(db *store.DB) error {
		report, err := verify.Run(ctx, db, settings)
		if err != nil {
			return err
		}
		return showGuarantees(env, report, o.asJSON)
	})
}

// showGuarantees writes the report, and returns an error if it is not a good one.
func showGuarantees(env *ui.Env, r *verify.Report, asJSON bool) error {
	var err error
	if asJSON {
		err = env.PrintJSON(r)
	} else {
		err = env.Printf("%s", inWords(env, r))
	}
	violations := 0
	for _, f := range r.Findings {
		if f.Level == verify.Violation {
			violations++
		}
	}
	text := fmt.Sprintf("violations: %d, checks not done: %d", violations, len(r.Undone))
	switch {
	case err != nil:
		return err
	case r.Violated():
		return ui.Foundf("%s", text)
	case len(r.Undone) > 0:
		return errors.New(text)
	}
	return nil
}

func inWords(env *ui.Env, r *verify.Report) string {
	var b strings.Builder
	for _, f := range r.Findings {
		b.WriteString(string(f.Level))
		if f.Guarantee != "" {
			b.WriteString(" of " + f.Guarantee)
		}
		b.WriteString(": " + f.Text + "\n")
		for _, row := range f.Rows {
			fmt.Fprintf(&b, "    %s: %s\n", row.About, row.Detail)
		}
		if f.More {
			b.WriteString("    and more\n")
		}
		b.WriteString("  what to do: " + f.Remedy + "\n\n")
	}
	for _, text := range r.Undone {
		b.WriteString("not checked  " + text + "\n")
	}
	fmt.Fprintf(&b, "checks: %d, since %s; compared with their timers: %s, %s; findings: %d\n",
		len(r.Checks), env.Moment(r.Since), ui.Counted(r.Tasks, "task"), ui.Counted(r.Ticks, "tick"), len(r.Findings))
	return b.String()
}
