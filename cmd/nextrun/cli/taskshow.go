package cli

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/periodic"
)

// shownTicks is how many ticks `task show` shows.
const shownTicks = 5

func (p *program) taskShowCommand() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "show ID",
		Short: "Show a task: its columns, its next elapses and what became of the last ones",
		Args:  arguments("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withTasks(c.Context(), func(tasks *periodic.Tasks) error {
				task, err := tasks.Get(c.Context(), args[0])
				if err != nil {
					return err
				}
				if asJSON {
					j := newTaskJSON(&task)
					j.Args = &task.Args
					return p.printJSON(j)
				}
				ticks, err := tasks.Ticks(c.Context(), periodic.TickFilter{TaskID: task.ID, Limit: shownTicks})
				if err != nil {
					return err
				}
				return p.showTask(&task, ticks)
			})
		},
	}
	jsonFlag(command, &asJSON)
	return command
}

func (p *program) showTask(t *periodic.Task, ticks []periodic.Tick) error {
	if err := p.printFields(p.taskFields(t)); err != nil {
		return err
	}
	if t.Enabled && t.NextRun.Before(periodic.Never) {
		if err := p.printUpcoming(t); err != nil {
			return err
		}
	}
	if len(ticks) == 0 {
		return nil
	}
	if err := p.printf("\n"); err != nil {
		return err
	}
	return p.printTicks(ticks, false)
}

func (p *program) taskFields(t *periodic.Task) [][2]string {
	next, left := p.plan(t)
	if left != "" {
		next += ", " + left
	}
	deadline := "none"
	if t.Deadline != nil {
		deadline = seconds(*t.Deadline)
	}
	fields := [][2]string{
		{"id", t.ID}, {"problem", t.Problem}, {"enabled", yesNo(t.Enabled)}, {"task", t.Task}, {"timer", t.Timer},
		{"next run", next}, {"due", p.moment(t.Due)}, {"group", t.Group}, {"args", shorten(t.Args)},
		{"subject", t.Subject}, {"submitter", t.Submitter}, {"priority", strconv.Itoa(t.Priority)},
		{"starts", p.moment(t.Starts)}, {"ends", p.moment(t.Ends)}, {"overlap", string(t.Overlap)},
		{"catchup", string(t.Catchup)}, {"grace", seconds(t.Grace)}, {"deadline", deadline},
		{"jitter", seconds(t.Jitter)}, {"sink", string(t.Sink)}, {"created", p.moment(t.Created)},
		{"summary", t.Summary}, {"marked by", t.Worker},
	}
	if !t.Due.Before(periodic.Never) {
		fields[6][1] = ""
	}
	return fields
}

func seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) + " s" }

// shorten keeps what is long from filling the screen.
func shorten(text string) string {
	const most = 1000
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "... (--json shows all)"
	}
	return text
}
