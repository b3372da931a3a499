package complete

import (
	"context"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/leader"
	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// patience is how long the database may take: somebody waits at the keyboard.
const patience = 2 * time.Second

// most is how many values of a kind are proposed.
const most = 200

// completer is one press of Tab.
type completer struct {
	ctx     context.Context
	env     *ui.Env
	command *cobra.Command
}

// ask asks the database. Any error counts as no answer.
func (c *completer) ask(fn func(context.Context, *store.DB) error) {
	ctx, cancel := context.WithTimeout(c.ctx, patience)
	defer cancel()
	// Whoever presses Tab is shown values, or nothing.
	_ = c.env.WithDatabase(ctx, func(db *store.DB) error { return fn(ctx, db) })
}

func (c *completer) tasks() (list []periodic.Task) {
	c.ask(func(ctx context.Context, db *store.DB) (err error) {
		list, err = periodic.NewTasks(db.Tasks()).List(ctx, periodic.TaskFilter{Limit: most})
		return err
	})
	return list
}

func tasks(c *completer) (list []string) {
	for _, t := range c.tasks() {
		list = append(list, described(t.ID, t.Timer))
	}
	return list
}

// tasksWithTimer are the beginnings of --with.
func tasksWithTimer(c *completer) (list []string) {
	for _, t := range c.tasks() {
		list = append(list, t.ID+"=")
	}
	return list
}

// handlers are those of the configuration, and those that tasks name.
func handlers(c *completer) (list []string) {
	if config, err := c.env.Configuration(); err == nil {
		list = slices.Collect(maps.Keys(config.Handlers))
	}
	for _, t := range c.tasks() {
		list = append(list, t.Task)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func groups(c *completer) (list []string) {
	for _, t := range c.tasks() {
		list = append(list, t.Group)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func jobs(c *completer) (list []string) {
	c.ask(func(ctx context.Context, db *store.DB) error {
		found, err := jobqueue.NewQueue(db.Jobs()).List(ctx, jobqueue.Filter{Limit: most})
		for _, j := range found {
			list = append(list, described(j.JID, j.State.Word()+" "+j.Task))
		}
		return err
	})
	return list
}

// jobsOrTasks are the tasks where the last job of one is meant.
func jobsOrTasks(c *completer) []string {
	if last := c.command.Flags().Lookup("last"); last != nil && last.Changed {
		return tasks(c)
	}
	return jobs(c)
}

func events(c *completer) (list []string) {
	c.ask(func(ctx context.Context, db *store.DB) error {
		found, err := db.Outbox().List(ctx, outbox.Filter{Limit: most})
		for _, e := range found {
			list = append(list, described(e.ID, e.Topic+" "+e.Type))
		}
		return err
	})
	return list
}

// topics are those of unpublished events, and of the newest ones.
func topics(c *completer) (list []string) {
	c.ask(func(ctx context.Context, db *store.DB) error {
		lags, err := db.Outbox().Lag(ctx)
		if err != nil {
			return err
		}
		for _, l := range lags {
			list = append(list, l.Topic)
		}
		found, err := db.Outbox().List(ctx, outbox.Filter{Limit: most})
		for _, e := range found {
			list = append(list, e.Topic)
		}
		return err
	})
	slices.Sort(list)
	return slices.Compact(list)
}

// locks are those of the database, or the one that will be there.
func locks(c *completer) []string {
	var list []string
	c.ask(func(ctx context.Context, db *store.DB) error {
		found, err := db.Periodic().Locks().List(ctx)
		for _, l := range found {
			list = append(list, described(l.Name, l.Holder))
		}
		return err
	})
	if len(list) == 0 {
		return []string{leader.DefaultLock}
	}
	return list
}

// queues are the queues of the configuration.
func queues(c *completer) (list []string) {
	if config, err := c.env.Configuration(); err == nil {
		for _, name := range slices.Sorted(maps.Keys(config.Queues)) {
			list = append(list, string(name))
		}
	}
	return list
}

func sinks(c *completer) []string {
	return append([]string{string(periodic.SinkJob), string(periodic.SinkEvent)}, queues(c)...)
}

// commands are those below the command line's words.
func commands(c *completer) (list []string) {
	for _, command := range c.command.Root().Commands() {
		if command.IsAvailableCommand() {
			list = append(list, described(command.Name(), command.Short))
		}
	}
	return list
}

// timers are examples.
func timers(*completer) []string {
	return []string{
		"hourly", "daily", "weekly", "monthly", "every 15m", "Mon..Fri 08:30", "*-*-* 02:00 Europe/Berlin", "0 2 * * *",
	}
}

// times are examples of times.
func times(at *ui.TimeFlag) source {
	list := []string{"tomorrow", "monday", "1h", "1d"}
	if at.Past {
		list = []string{"1h", "1d", "7d", "today", "yesterday", "monday"}
	}
	if at.AllowNone {
		list = append(list, "none")
	}
	return words(list...)
}

func words(list ...string) source { return func(*completer) []string { return list } }

func jobStates() (list []string) {
	for _, s := range jobqueue.States() {
		list = append(list, s.Word())
	}
	return list
}

// zoneName is a zone of the zone database, but for old names.
var zoneName = regexp.MustCompile(`^(Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific)/`)

// zones are those of the machine's zone database, or of the largest cities where it
// has none.
func zones(*completer) []string {
	const dir = "/usr/share/zoneinfo"
	list := []string{"UTC"}
	// A machine without the database leaves the list as it is.
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil && !entry.IsDir() && zoneName.MatchString(name) {
			list = append(list, filepath.ToSlash(name))
		}
		return err
	})
	if len(list) == 1 {
		list = append(list, calendar.LargeZones()...)
	}
	return list
}

// described is a value with a text that some shells show beside it.
func described(value, about string) string {
	return ui.Printable(strings.ReplaceAll(value, "\t", " ")) + "\t" + strings.ReplaceAll(text.FirstLine(ui.Printable(about)), "\t", " ")
}
