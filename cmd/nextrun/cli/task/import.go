package task

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/cmd/nextrun/config"
	"github.com/nextrun/nextrun/cmd/nextrun/crontab"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue/handlers"
	"github.com/nextrun/nextrun/periodic"
)

func importCommand(env *ui.Env) *cobra.Command {
	var options crontab.Options
	var sink string
	var dryRun bool
	command := &cobra.Command{
		Use:   "import CRONTAB",
		Short: "Import the lines of a crontab as tasks",
		Long: `Import the lines of a crontab as tasks; - is standard input. Standard output gets
the handlers that they need, for the configuration file; standard error says what
changed and which lines have no equivalent. Import the same file again to update its tasks. Tasks that
come from elsewhere are never changed: if an id or a handler is taken, nothing is
imported, and --prefix gives other ids. With --sink QUEUE there are no handlers:
the args of the jobs hold the command, for the workers of that queue.`,
		Example: `  crontab -l | nextrun task import - --dry-run
  nextrun task import /etc/crontab --system > handlers.yaml
  nextrun task import wiki.cron --prefix wiki`,
		Args: ui.Arguments("CRONTAB"),
		RunE: func(c *cobra.Command, args []string) error {
			if !c.Flags().Changed("zone") {
				options.Zone = localZone(env)
			}
			if _, err := time.LoadLocation(options.Zone); err != nil || options.Zone == "Local" {
				return ui.Usagef("the time zone %q of the crontab is not known; name it with --zone, such as Europe/Berlin", options.Zone)
			}
			if oddPrefix.MatchString(options.Prefix) || len(options.Prefix) > maxPrefix {
				return ui.Usagef("--prefix is %q; use up to %d letters, digits, . _ and -", options.Prefix, maxPrefix)
			}
			if sink := periodic.Sink(sink); !sink.Valid() {
				return ui.Usagef("--sink is %q; use job or the name of a queue: lower-case letters, digits, - and _, a letter first", sink)
			}
			return importCrontab(c.Context(), env, args[0], options, periodic.Sink(sink), dryRun)
		},
	}
	flags := command.Flags()
	flags.StringVar(&options.Zone, "zone", "", "time `zone` of the crontab (default the machine's)")
	flags.StringVar(&options.Prefix, "prefix", "", "`name` that begins the ids of all tasks of this crontab: NAME-backup")
	flags.BoolVar(&options.System, "system", false, "a user name precedes each command, as in /etc/crontab")
	flags.StringVar(&sink, "sink", string(periodic.SinkJob), "`queue` of the jobs")
	flags.BoolVar(&dryRun, "dry-run", false, "show what would change, and change nothing")
	return command
}

// localZone is the name of the machine's time zone: TZ, or where /etc/localtime
// points to.
func localZone(env *ui.Env) string {
	if zone := strings.TrimPrefix(env.Getenv("TZ"), ":"); zone != "" {
		return zone
	}
	target, err := filepath.EvalSymlinks("/etc/localtime")
	if _, zone, found := strings.Cut(target, "/zoneinfo/"); err == nil && found {
		return strings.TrimPrefix(zone, "Etc/")
	}
	return "Local"
}

func importCrontab(ctx context.Context, env *ui.Env, path string, options crontab.Options, sink periodic.Sink, dryRun bool) error {
	content, err := ui.ReadFile(env.Stdin, path)
	if err != nil {
		return err
	}
	entries, problems := crontab.Parse(string(content), options)
	from, err := origin(path)
	if err != nil {
		return err
	}
	apply := periodic.Apply{DryRun: dryRun}
	apply.Check = func(rows []periodic.Task) error { return checkOrigin(apply.Tasks, rows, from) }
	sections := map[string]config.Handler{}
	for _, e := range entries {
		task := periodic.NewTask(e.ID, e.ID, e.Timer)
		task.Submitter, task.Subject, task.Summary, task.Sink = importSubmitter, from, text.FirstLine(e.Command), sink
		if sink != periodic.SinkJob {
			if task.Args, err = commandArgs(e); err != nil {
				return err
			}
		}
		apply.Tasks = append(apply.Tasks, task)
		sections[e.ID] = config.Handler{Command: &handlers.CommandConfig{Argv: []string{e.Shell, "-c", e.Command}, Env: e.Env}}
	}
	quiet := *env
	quiet.Stdout = env.Stderr // there is something else on standard output
	if err := applyTasks(ctx, &quiet, apply); err != nil {
		return err
	}
	if sink == periodic.SinkJob {
		if err := config.WriteHandlers(env.Stdout, sections); err != nil {
			return err
		}
	}
	if len(entries) > 0 && sink == periodic.SinkJob {
		env.Complain("note: cron starts a command although the one before still runs; these tasks skip such a tick. " +
			"To change that: nextrun task set ID --overlap allow")
	}
	return complainOf(env, path, problems)
}

// complainOf tells lines that are left out from mere notes. The former give an error.
func complainOf(env *ui.Env, path string, problems []crontab.Problem) error {
	leftOut := 0
	for _, problem := range problems {
		what := "note"
		if problem.LeftOut {
			what = "left out"
			leftOut++
		}
		env.Complain("%s:%d: %s: %s", path, problem.Line, what, problem.Text)
	}
	if leftOut > 0 {
		return fmt.Errorf("lines without an equivalent, left out: %d", leftOut)
	}
	return nil
}

// commandArgs are the args of a job whose worker is to run a line of a crontab.
func commandArgs(e crontab.Entry) (string, error) {
	text, err := json.Marshal(struct {
		Command []string `json:"command"`
		Env     []string `json:"env,omitempty"` // NAME=value
	}{[]string{e.Shell, "-c", e.Command}, e.Env})
	return string(text), err
}
