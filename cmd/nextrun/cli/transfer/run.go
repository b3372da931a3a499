package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/cmd/nextrun/config"
	"github.com/nextrun/nextrun/cmd/nextrun/docspell"
	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
	"github.com/nextrun/nextrun/internal/neighbors"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/store"
)

// result is what an import finds and does.
type result struct {
	items    []schedules.Item
	changes  []periodic.TaskChange
	gone     []string // tasks of these files that the files no longer have
	handlers map[string]config.Handler
	assigned bool // the tasks have their ids
}

// run reads the files, compares them with the table and writes, unless that is a dry run.
func (i *importing) run(ctx context.Context, paths []string) error {
	old, err := i.oldHandlers()
	if err != nil {
		return err
	}
	items, err := i.kind.Read(paths, i.options)
	if err != nil {
		return err
	}
	r := &result{items: items}
	failed := i.env.WithQueues(ctx, func(db *store.DB, queues ui.Queues) error {
		return i.compare(ctx, db, queues, paths, r)
	})
	if !r.assigned {
		schedules.Assign(items, nil, i.target) // the report does not need the table
	}
	r.collect(i.target)
	if err := i.report(r, failed); err != nil {
		return errors.Join(failed, err)
	}
	if failed != nil {
		return fmt.Errorf("nothing was changed: %w", failed)
	}
	if err := i.writeHandlers(r, old); err != nil {
		return err
	}
	if n := count(items, schedules.Refused); i.strict && n > 0 {
		return ui.Foundf("lines that were refused: %d", n)
	}
	if i.dryRun && len(r.changes) > 0 {
		return ui.ErrChanges
	}
	return nil
}

// takenError says that rows got in the way between two looks at the table.
type takenError struct{ ids []string }

func (e *takenError) Error() string {
	return fmt.Sprintf("tasks appeared that come from elsewhere: %s; try again", strings.Join(e.ids, ", "))
}

// compare gives the tasks their ids and makes the table match, or says what would change.
func (i *importing) compare(ctx context.Context, db *store.DB, queues ui.Queues, paths []string, r *result) error {
	tasks := periodic.NewTasks(db.Tasks())
	rows, err := tasks.List(ctx, periodic.TaskFilter{})
	if err != nil {
		return err
	}
	schedules.Assign(r.items, rows, i.target)
	r.assigned = true
	if err := r.refuseBad(i.target); err != nil {
		return err
	}
	vanished := i.vanished(paths, r.items)
	apply := periodic.Apply{Tasks: r.tasks(), DryRun: i.dryRun, Prune: periodic.Prune(i.prune.Value)}
	apply.Keep = func(t *periodic.Task) bool { return !vanished(t) }
	apply.Check = func(rows []periodic.Task) error {
		if ids := schedules.Foreign(r.items, rows, i.kind.Name()); len(ids) > 0 {
			return &takenError{ids}
		}
		return nil
	}
	if err := i.warn(ctx, db, queues, apply.Tasks); err != nil {
		return err
	}
	done, err := tasks.Apply(ctx, apply)
	if err != nil {
		return err
	}
	r.changes = done.Changes
	imported := map[string]bool{}
	for _, t := range apply.Tasks {
		imported[t.ID] = true
	}
	for n := range rows {
		if !imported[rows[n].ID] && vanished(&rows[n]) {
			r.gone = append(r.gone, rows[n].ID)
		}
	}
	return nil
}

// vanished tells rows that come from the files of an import. What the files still have
// does, too.
func (i *importing) vanished(paths []string, items []schedules.Item) func(*periodic.Task) bool {
	origins := map[schedules.Origin]bool{}
	var dirs []string
	for _, path := range paths {
		o := schedules.NewOrigin(i.options.Host, path)
		origins[o] = true
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			dirs = append(dirs, o.Subject()+"/")
		}
	}
	for n := range items {
		if e := items[n].Entry; e != nil {
			origins[e.Origin] = true
		}
	}
	unread := map[schedules.Origin]bool{}
	for n := range items {
		if items[n].Unread {
			unread[schedules.NewOrigin(i.options.Host, items[n].File)] = true
		}
	}
	return func(row *periodic.Task) bool {
		if row.Submitter != i.kind.Name() {
			return false
		}
		for o := range unread {
			if o.Surely(row) {
				return false
			}
		}
		for _, dir := range dirs {
			if strings.HasPrefix(row.Subject, dir) {
				return true
			}
		}
		for o := range origins {
			if o.Surely(row) {
				return true
			}
		}
		return false
	}
}

// refuseBad writes the args, and refuses what the table would refuse.
func (r *result) refuseBad(t schedules.Target) error {
	for n := range r.items {
		item := &r.items[n]
		if item.Entry == nil {
			continue
		}
		task := &item.Entry.Task
		if t.Handler != "" || t.Sink != periodic.SinkJob {
			var args bytes.Buffer
			encoder := json.NewEncoder(&args)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(item.Entry.Payload); err != nil {
				return err
			}
			task.Args = strings.TrimSpace(args.String())
		}
		if err := task.Validate(); err != nil {
			item.Entry, item.Changed, item.Refused = nil, nil, err.Error()
		}
	}
	return nil
}

func (r *result) tasks() (list []periodic.Task) {
	for n := range r.items {
		if e := r.items[n].Entry; e != nil {
			list = append(list, e.Task)
		}
	}
	return list
}

// collect gathers the handlers that the tasks need.
func (r *result) collect(t schedules.Target) {
	r.handlers = map[string]config.Handler{}
	if t.Handler != "" || t.Sink != periodic.SinkJob {
		return
	}
	for n := range r.items {
		if e := r.items[n].Entry; e != nil && e.Handler != nil {
			r.handlers[e.Task.Task] = *e.Handler
		}
	}
}

// warn says what may be wrong with tasks although their rows are good.
func (i *importing) warn(ctx context.Context, db *store.DB, queues ui.Queues, tasks []periodic.Task) error {
	if text := queues.Missing(i.target.Sink); text != "" {
		i.env.Complain("warning: %s", text)
	}
	is, err := neighbors.DocspellIn(db).IsHere(ctx)
	if err != nil || !is {
		return err
	}
	for n := range tasks {
		for _, text := range docspell.Warnings(&tasks[n], i.env.Now()) {
			i.env.Complain("warning: task %q: %s", tasks[n].ID, text)
		}
	}
	return nil
}

func count(items []schedules.Item, outcome schedules.Outcome) (n int) {
	for i := range items {
		if items[i].Outcome() == outcome {
			n++
		}
	}
	return n
}
