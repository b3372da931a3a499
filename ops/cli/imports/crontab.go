package imports

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/config"
	"github.com/nextrun/nextrun/ops/crontab"
)

func crontabCommand(env *ui.Env) *cobra.Command {
	var options crontab.Options
	var handlers bool
	command := translator(env, &cobra.Command{
		Use:   "crontab [FILE]",
		Short: "Translate a crontab into tasks",
		Long: `Translate a crontab, or standard input, into a file for task apply on standard output.
It needs no database. With --handlers it prints the section handlers of the
configuration file instead: the commands of the lines.

Lines that are left out, and what differs from cron, are named on standard error. If
a line is left out, the exit code is 1. Times without CRON_TZ are in the zone of --zone.

The id of a task is the name of its command. Tasks skip a tick while their last job
runs, where cron would start the command once more.`,
		Example: `  nextrun import crontab shop.cron > tasks.yaml
  nextrun import crontab shop.cron --handlers > handlers.yaml
  crontab -l | nextrun import crontab | nextrun task apply -f - --dry-run`,
	}, "line", func(c *cobra.Command, s source) (leftOut int, err error) {
		if options.Zone, err = zoneOf(env); err != nil {
			return 0, err
		}
		options.System = options.System || systems(s.path)
		read, err := crontab.Parse(c.Context(), s.text, options)
		if err != nil {
			return 0, err
		}
		for _, n := range read.Notes {
			kind := "note"
			if n.LeftOut {
				leftOut++
				kind = "left out"
			}
			env.Complain("%s:%d: %s: %s: %s", s.name, n.Line, kind, n.Source, n.Text)
		}
		if handlers {
			return leftOut, config.WriteHandlers(env.Stdout, read.Handlers)
		}
		return leftOut, config.WriteTasks(env.Stdout, read.Tasks, nil)
	})
	flags := command.Flags()
	flags.BoolVar(&handlers, "handlers", false, "print the handlers of the configuration file, not the tasks")
	flags.BoolVar(&options.System, "system", false, "a user name precedes each command (default for /etc/crontab and /etc/cron.d)")
	flags.StringVar(&options.Prefix, "prefix", "", "`name` that begins the ids of all tasks: NAME-backup")
	return command
}

// systems reports whether cron reads user names in a file.
func systems(path string) bool {
	absolute, err := filepath.Abs(path)
	return err == nil && (absolute == "/etc/crontab" || filepath.Dir(absolute) == "/etc/cron.d")
}

// zoneOf is the zone of times that name none: that of --zone, or the machine's, of TZ or where /etc/localtime points to.
func zoneOf(env *ui.Env) (string, error) {
	if env.Zone != time.Local {
		return env.Zone.String(), nil
	}
	zone := strings.TrimPrefix(env.Getenv("TZ"), ":")
	if target, err := filepath.EvalSymlinks("/etc/localtime"); zone == "" && err == nil {
		if _, name, found := strings.Cut(target, "/zoneinfo/"); found {
			zone = strings.TrimPrefix(name, "Etc/")
		}
	}
	if _, err := time.LoadLocation(zone); zone == "" || err != nil {
		return "", ui.Usagef("the machine's time zone %q is not known; name it with --zone, such as Europe/Berlin", zone)
	}
	return zone, nil
}
