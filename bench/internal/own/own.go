package own

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nextrun/nextrun/bench/internal/measure"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/store"
)

// Run runs the command and returns its exit code, as cli.Run does.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
	env := &ui.Env{Stdin: stdin, Stdout: stdout, Stderr: stderr, Getenv: getenv, Now: time.Now, Zone: time.UTC}
	env.Flags.Color = ui.Choice{Value: "auto", Allowed: []string{"auto", "always", "never"}}
	begun := false
	c := command(env, &begun)
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs(args)
	c.SetIn(stdin)
	c.SetOut(stdout)
	c.SetErr(stderr)
	err := c.ExecuteContext(ctx)
	if err == nil {
		return ui.Done
	}
	env.Complain("bench own: %s", ui.Plainly(err))
	var usage *ui.UsageError
	if begun && !errors.As(err, &usage) {
		return ui.Failed
	}
	env.Complain("See: bench own --help")
	return ui.WrongUsage
}

// options are the flags of `bench own`.
type options struct {
	measure.Options
	timeout       ui.SecondsFlag
	clean, asJSON bool
}

// command returns `bench own`, which notes when it has begun: what fails before is wrong usage.
func command(env *ui.Env, begun *bool) *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:         "own",
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "bench own"},
		Short:       "Measure on your database how fast nextrun is, beside plain SQL",
		Long: `Measure on your database: how soon a burst of tasks that are due at the same time is
committed, how punctual a task is that is due every second, and how many jobs an
executor runs. Plain SQL that does the least for the same is measured in turn with it:
its figures are the limit that the database sets. It takes about two minutes.

All happens in a schema of its own, nextrun_bench_..., or with SQLite in a file beside
the database, which are removed, also after Control-C. The role needs the right to
create schemas. Your tables are not touched, but the load is real, and schedulers and
executors that use the same database are woken, and find nothing to do.

If the process was killed, its schema is left over; the next run names it, and
--clean removes it.

Exit code 0: measured. 1: it could not be done. 2: wrong usage.`,
		Example: `  bench own --db sqlite:nextrun.db
  bench own --tasks 10000 --rounds 7 --timeout 30m
  bench own --json > bench.json
  bench own --clean`,
		Args: ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			*begun = true
			if o.timeout.Value != nil {
				o.Timeout = *o.timeout.Value
			}
			if err := o.check(); err != nil {
				return err
			}
			return run(c, env, o)
		},
	}
	flags := command.Flags()
	flags.IntVar(&o.Rounds, "rounds", measure.DefaultRounds, "how often each is measured, `number` up to 100; the median counts")
	flags.IntVar(&o.Tasks, "tasks", measure.DefaultTasks, "tasks of a burst, `number` up to 100000")
	flags.IntVar(&o.Jobs, "jobs", measure.DefaultJobs, "jobs that are run, `number` up to 100000")
	flags.IntVar(&o.Ticks, "ticks", measure.DefaultTicks, "ticks of the task that is due every second, `number` in each round, up to 600")
	flags.Var(&o.timeout, "timeout", "give up after this time, such as 90 or 30m (default 10m)")
	flags.BoolVar(&o.clean, "clean", false, "measure nothing; remove what runs that were killed have left")
	ui.JSONFlag(command, &o.asJSON)
	usualFlags(flags, env)
	return command
}

// usualFlags are those that nextrun has for all of its commands, as far as they matter here.
func usualFlags(flags *pflag.FlagSet, env *ui.Env) {
	flags.StringVar(&env.Flags.DB, "db", "", "`database`: sqlite:PATH or postgres://... (NEXTRUN_DB; default sqlite:nextrun.db)")
	flags.StringVar(&env.Flags.DBFile, "db-file", "", "`file` that holds the URL of the database, instead of --db (NEXTRUN_DB_FILE)")
	flags.StringVar(&env.Flags.Config, "config", "", "configuration `file` (NEXTRUN_CONFIG), of which the section database counts")
	flags.Var(&env.Flags.Color, "color", "colours; auto: on a terminal, unless NO_COLOR is set")
	flags.BoolVar(&env.Flags.Wide, "wide", false, "write tables whole, even if they are wider than the terminal")
}

// check is wrong usage of the numbers.
func (o options) check() error {
	for _, f := range []struct {
		flag        string
		value, most int
	}{
		{"rounds", o.Rounds, measure.MostRounds}, {"tasks", o.Tasks, measure.MostTasks},
		{"jobs", o.Jobs, measure.MostJobs}, {"ticks", o.Ticks, measure.MostTicks},
	} {
		if f.value < 1 || f.value > f.most {
			return ui.Usagef("--%s is %d; use a number from 1 to %d", f.flag, f.value, f.most)
		}
	}
	if o.Timeout < 0 {
		return ui.Usagef("--timeout is negative")
	}
	return nil
}

func run(c *cobra.Command, env *ui.Env, o options) error {
	url, err := env.DatabaseURL()
	if err != nil {
		return err
	}
	configuration, err := env.Configuration()
	if err != nil {
		return err
	}
	if o.clean {
		return clean(c, env, url, configuration.Database, o.asJSON)
	}
	o.Progress = func(text string) { env.Complain("%s", text) }
	report, err := measure.Run(c.Context(), url, configuration.Database, o.Options)
	if err != nil {
		if c.Context().Err() != nil {
			return fmt.Errorf("ended before all was measured: %w", err)
		}
		return err
	}
	for _, name := range report.Left {
		env.Complain("of another run, which goes on or was killed: %s; if it was killed, remove it with --clean", name)
	}
	if o.asJSON {
		return env.PrintJSON(report)
	}
	return write(env, report)
}

func clean(c *cobra.Command, env *ui.Env, url string, options store.Options, asJSON bool) error {
	names, err := measure.Clean(c.Context(), url, options)
	if asJSON {
		return errors.Join(env.PrintJSON(append([]string{}, names...)), err)
	}
	for _, name := range names {
		if perr := env.Printf("removed %s\n", name); perr != nil {
			return errors.Join(perr, err)
		}
	}
	if len(names) == 0 && err == nil {
		return env.Printf("nothing is left over\n")
	}
	return err
}

func write(env *ui.Env, r *measure.Report) error {
	settings := make([]string, 0, len(r.Settings))
	for _, name := range slices.Sorted(maps.Keys(r.Settings)) {
		settings = append(settings, name+" "+r.Settings[name])
	}
	if err := env.Printf("%s %s, %s\nthis machine: %d cores; medians of %d rounds, with the least and the most\n\n",
		r.Database, r.Version, strings.Join(settings, ", "), r.CPUs, r.Rounds); err != nil {
		return err
	}
	table := ui.NewTable("MEASURE", "UNIT", "NEXTRUN", "RANGE", "PLAIN SQL", "RANGE OF IT", "SHARE").Least("RANGE OF IT", "RANGE")
	for _, f := range r.Figures {
		share := ""
		if f.Share > 0 {
			share = strconv.FormatFloat(f.Share, 'f', 2, 64)
		}
		table.Add(f.Name, f.Unit, median(f.Ours), reach(f.Ours), median(f.Plain), reach(f.Plain), share)
	}
	if err := env.PrintTable(table, nil, false); err != nil {
		return err
	}
	return env.Printf("\nSHARE is how much of the speed of plain SQL is reached; 1 is all of it.\n")
}

func median(s *measure.Spread) string {
	if s == nil {
		return ""
	}
	return number(s.Median)
}

func reach(s *measure.Spread) string {
	if s == nil {
		return ""
	}
	return number(s.Least) + ".." + number(s.Most)
}

// number is a number as people read it: with three digits at least, and none that mean nothing.
func number(v float64) string {
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}
