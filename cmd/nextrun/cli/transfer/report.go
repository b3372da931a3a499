package transfer

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/cmd/nextrun/config"
	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
	"github.com/nextrun/nextrun/periodic"
)

// report writes what became of each line, then what changes in the table.
func (i *importing) report(r *result, failed error) error {
	if i.asJSON {
		return i.env.PrintJSON(reportJSON(r, !i.dryRun && failed == nil))
	}
	out := *i.env
	if i.handlers == "-" {
		out.Stdout = i.env.Stderr // the handlers have standard output
	}
	if err := printItems(out.Stdout, r.items); err != nil {
		return err
	}
	var b strings.Builder
	for _, c := range r.changes {
		fmt.Fprintf(&b, "%-8s %s%s\n", c.Action, ui.Cell(c.ID), ui.ColumnChanges(c))
	}
	if i.prune.Value == "" {
		for _, id := range r.gone {
			fmt.Fprintf(&b, "gone     %s: no longer in its file; --prune disable or --prune delete removes it\n", ui.Cell(id))
		}
	}
	if failed == nil {
		i.summary(&b, r)
	}
	return out.Printf("%s", b.String())
}

// summary writes the counts, and what to do next.
func (i *importing) summary(b *strings.Builder, r *result) {
	taken, changed, refused := count(r.items, schedules.Taken), count(r.items, schedules.Changed), count(r.items, schedules.Refused)
	fmt.Fprintf(b, "%d taken, %d changed, %d refused; ", taken, changed, refused)
	if !i.dryRun {
		fmt.Fprintf(b, "changed: %d of %s\n", len(r.changes), ui.Counted(taken+changed, "task"))
	} else {
		fmt.Fprintf(b, "to change: %d of %s\n", len(r.changes), ui.Counted(taken+changed, "task"))
	}
	if i.dryRun && len(r.changes) > 0 {
		b.WriteString("nothing was written; without --dry-run the tasks are\n")
	}
	if i.handlers == "" && len(r.handlers) > 0 {
		fmt.Fprintf(b, "handlers that the configuration needs: %d; --handlers FILE writes them\n", len(r.handlers))
	}
	if i.kind.Name() == "crontab" && taken+changed > 0 && i.target.Sink == periodic.SinkJob {
		b.WriteString("note: cron starts a command although the one before still runs; these tasks skip such a tick. " +
			"To change that: nextrun task set ID --overlap allow\n")
	}
}

// printItems writes the lines of a report: where, what became of it, and why.
func printItems(w io.Writer, items []schedules.Item) error {
	var b strings.Builder
	for n := range items {
		item := &items[n]
		b.WriteString(item.File)
		if item.Line > 0 {
			b.WriteString(":" + strconv.Itoa(item.Line))
		}
		fmt.Fprintf(&b, ": %s: %s\n", item.Outcome(), ui.Cell(item.Source))
		if e := item.Entry; e != nil {
			fmt.Fprintf(&b, "    task %s: %s\n", e.Task.ID, e.Task.Timer)
		}
		if item.Refused != "" {
			fmt.Fprintf(&b, "    %s\n", ui.Cell(item.Refused))
		}
		for _, text := range item.Changed {
			fmt.Fprintf(&b, "    %s\n", ui.Cell(text))
		}
	}
	_, err := io.WriteString(w, ui.Printable(b.String()))
	return err
}

type handlerJSON struct {
	Command     []string `json:"command"` // null: it has SQL
	SQL         *string  `json:"sql"`
	Role        *string  `json:"role"`
	Dir         *string  `json:"dir"`
	Env         []string `json:"env"` // NAME=value
	Concurrency *int     `json:"concurrency"`
}

// reportJSON is the JSON form of a report.
func reportJSON(r *result, applied bool) ui.Object {
	changes := []ui.Object{}
	for _, c := range r.changes {
		columns := []ui.Object{}
		for _, column := range c.Columns {
			columns = append(columns, ui.Object{{"column", column.Column}, {"from", column.From}, {"to", column.To}})
		}
		changes = append(changes, ui.Object{{"id", c.ID}, {"action", c.Action}, {"columns", columns}})
	}
	handlers := map[string]handlerJSON{}
	for name, h := range r.handlers {
		handlers[name] = newHandlerJSON(h)
	}
	return ui.Object{
		{"applied", applied}, {"items", itemsJSON(r.items)}, {"changes", changes}, {"gone", append([]string{}, r.gone...)}, {"handlers", handlers},
	}
}

func itemsJSON(items []schedules.Item) []ui.Object {
	list := []ui.Object{}
	for n := range items {
		item := &items[n]
		var id, timer any // null: it has no task
		if item.Entry != nil {
			id, timer = item.Entry.Task.ID, item.Entry.Task.Timer
		}
		reasons := append([]string{}, item.Changed...)
		if item.Refused != "" {
			reasons = append(reasons, item.Refused)
		}
		list = append(list, ui.Object{
			{"file", item.File}, {"line", ui.OrNull(item.Line)}, {"source", item.Source}, {"outcome", item.Outcome()},
			{"id", id}, {"timer", timer}, {"reasons", reasons},
		})
	}
	return list
}

func newHandlerJSON(h config.Handler) handlerJSON {
	if h.SQL != nil {
		return handlerJSON{SQL: &h.SQL.SQL, Role: ui.OrNull(h.SQL.Role), Env: []string{}}
	}
	return handlerJSON{
		Command: h.Command.Argv, Dir: ui.OrNull(h.Command.Dir), Env: append([]string{}, h.Command.Env...),
		Concurrency: ui.OrNull(h.Limits.Concurrency),
	}
}
