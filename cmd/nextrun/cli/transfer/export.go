package transfer

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/cmd/nextrun/config"
	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// exporting is what an export is to do.
type exporting struct {
	env     *ui.Env
	kind    schedules.Kind
	options schedules.Options
	filter  periodic.TaskFilter
	zone    string
	dir     string
	asJSON  bool
}

// ExportCommand returns `nextrun export` with a command for each kind.
func ExportCommand(env *ui.Env) *cobra.Command {
	var members []*cobra.Command
	for _, kind := range kinds() {
		members = append(members, exportCommand(env, kind))
	}
	return ui.Group(&cobra.Command{
		Use:   "export",
		Short: "Write tasks as schedules of cron, systemd, Kubernetes or pg_cron",
	}, members...)
}

var exportTexts = map[string][2]string{
	"crontab": {"Write tasks as a crontab", "  nextrun export crontab --config nextrun.yaml > crontab"},
	"timer":   {"Write tasks as timers and services of systemd", "  nextrun export timer --config nextrun.yaml --dir units"},
	"cronjob": {"Write tasks as CronJobs of Kubernetes", "  nextrun export cronjob --config nextrun.yaml --image registry.example.org/jobs:1 | kubectl apply -f -"},
	"pgcron":  {"Write tasks as calls of cron.schedule", "  nextrun export pgcron --config nextrun.yaml | psql"},
}

func exportCommand(env *ui.Env, kind schedules.Kind) *cobra.Command {
	e := &exporting{env: env, kind: kind}
	texts := exportTexts[kind.Name()]
	command := &cobra.Command{
		Use:   kind.Name(),
		Short: texts[0],
		Long: texts[0] + `, on standard output or as files in a directory.
Commands are those of the handlers in the configuration file, or those in the args
of the tasks. Standard error says what is lost. If a task cannot be written, the exit
code is 1.`,
		Example: texts[1],
		Args:    ui.Arguments(),
		RunE:    func(c *cobra.Command, _ []string) error { return e.run(c.Context()) },
	}
	flags := command.Flags()
	flags.StringVar(&e.filter.Group, "group", "", "only tasks of this group")
	flags.StringVar(&e.filter.Task, "handler", "", "only tasks whose jobs this handler runs")
	flags.StringVar(&e.dir, "dir", "", "write files into this `directory`, which is made if needed")
	ui.JSONFlag(command, &e.asJSON)
	switch kind.Name() {
	case "crontab":
		flags.StringVar(&e.zone, "zone", "", "time `zone` of the machine that will run the crontab (default this one's)")
	case "pgcron":
		flags.StringVar(&e.zone, "zone", "", "cron.timezone of the server, a time `zone` (default GMT)")
	case "cronjob":
		flags.StringVar(&e.options.Image, "image", "", "container `image` that has the programs")
		_ = command.MarkFlagRequired("image") // it is there
	}
	return command
}

func (e *exporting) run(ctx context.Context) error {
	c, err := e.env.Configuration()
	if err != nil {
		return err
	}
	e.options.Zone = zoneOf(e.env, e.kind, e.zone)
	if e.options.Zone == "Local" {
		return ui.Usagef("the time zone of this machine is not known; name it with --zone, such as Europe/Berlin")
	}
	return e.env.WithDatabase(ctx, func(db *store.DB) error {
		e.filter.WithArgs = true
		rows, err := periodic.NewTasks(db.Tasks()).List(ctx, e.filter)
		if err != nil {
			return err
		}
		files, items := e.kind.Write(exportsOf(rows, c), e.options)
		if err := e.write(files, items); err != nil {
			return err
		}
		if n := count(items, schedules.Refused); n > 0 {
			return fmt.Errorf("tasks that could not be written: %d of %d", n, len(items))
		}
		return nil
	})
}

// exportsOf are the tasks with their handlers. The housekeeping is nextrun's own.
func exportsOf(rows []periodic.Task, c *config.Config) (list []schedules.Export) {
	for i := range rows {
		if rows[i].Task == store.HousekeepingTask {
			continue
		}
		one := schedules.Export{Task: rows[i]}
		if h, found := c.Handlers[rows[i].Task]; found {
			one.Handler = &h
		}
		list = append(list, one)
	}
	return list
}

func (e *exporting) write(files []schedules.File, items []schedules.Item) error {
	if e.asJSON {
		list := []ui.Object{}
		for _, f := range files {
			list = append(list, ui.Object{{"name", f.Name}, {"text", f.Text}})
		}
		return e.env.PrintJSON(ui.Object{{"files", list}, {"items", itemsJSON(items)}})
	}
	if err := printLosses(e.env, items); err != nil {
		return err
	}
	if e.dir != "" {
		return e.writeFiles(files)
	}
	for _, f := range files {
		text := f.Text
		if len(files) > 1 {
			text = "# " + f.Name + "\n" + text + "\n"
		}
		if _, err := fmt.Fprint(e.env.Stdout, text); err != nil {
			return err
		}
	}
	return nil
}

// printLosses says what is lost of which task.
func printLosses(env *ui.Env, items []schedules.Item) error {
	var b strings.Builder
	for i := range items {
		item := &items[i]
		fmt.Fprintf(&b, "%s: %s: %s\n", ui.Cell(item.File), item.Outcome(), ui.Cell(item.Source))
		for _, text := range append(item.Changed, item.Refused) {
			if text != "" {
				fmt.Fprintf(&b, "    %s\n", ui.Cell(text))
			}
		}
	}
	_, err := fmt.Fprint(env.Stderr, ui.Printable(b.String()))
	return err
}

// exportMark stands in the first line of files that an export has written.
const exportMark = "written by nextrun export"

func (e *exporting) writeFiles(files []schedules.File) error {
	if err := os.MkdirAll(e.dir, 0o700); err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(e.dir, f.Name)
		old, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		if first, _, _ := strings.Cut(string(old), "\n"); err == nil && !strings.Contains(first, exportMark) {
			return fmt.Errorf("%s exists and was not written by an export; name another directory with --dir", path)
		}
		if err := os.WriteFile(path, []byte(f.Text), 0o600); err != nil { // commands may hold secrets
			return err
		}
	}
	return e.env.Printf("files written to %s: %d\n", e.dir, len(files))
}
