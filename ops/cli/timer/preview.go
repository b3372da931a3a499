package timer

import (
	"cmp"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/days"
	"github.com/nextrun/nextrun/store"
)

const (
	shownMinutes = 5  // how many of the busiest minutes are shown
	frequent     = 24 // a task with more ticks than that is one line
	mostAhead    = 366 * 24 * time.Hour
)

// preview is the JSON form of `nextrun preview`.
type preview struct {
	Ticks   []previewTick `json:"ticks"`
	Total   int           `json:"total"` // ticks, listed or not
	Busiest []busyMinute  `json:"busiest"`
	Skips   []skippedTick `json:"skips"`

	of map[string]int // how many ticks a task has
}

type previewTick struct {
	ID      string    `json:"id"`
	NextRun time.Time `json:"nextrun"`
	Due     time.Time `json:"due"`

	task *periodic.Task
	nth  int // of those of the task; the first is 1
}

type busyMinute struct {
	Minute time.Time `json:"minute"`
	Ticks  int       `json:"ticks"`
}

// skippedTick is a tick that somebody leaves out.
type skippedTick struct {
	ID string `json:"id"`
	days.LeftOut
}

// PreviewCommand returns `nextrun preview`.
func PreviewCommand(env *ui.Env) *cobra.Command {
	var until ui.TimeFlag
	var most int
	var asJSON bool
	command := &cobra.Command{
		Use:   "preview",
		Short: "Show the coming ticks of all tasks",
		Long: `Show the coming ticks of all tasks, with jitter, bounds and clock changes
applied, and the busiest minutes. A task with more than 24 of them has one line;
JSON has each tick.`,
		Example: `  nextrun preview --until 2d`,
		Args:    ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			now := env.Now()
			if until.Value.IsZero() {
				until.Value = now.Add(24 * time.Hour)
			}
			switch ahead := until.Value.Sub(now); {
			case most < 0:
				return ui.Usagef("-n is %d; use 0 (all) or more", most)
			case ahead <= 0 || ahead > mostAhead:
				return ui.Usagef("--until is %s; use a time from now on, up to 366d", env.Moment(until.Value))
			}
			return env.WithDatabase(c.Context(), func(db *store.DB) error {
				list, err := periodic.NewTasks(db.Tasks()).List(c.Context(), periodic.TaskFilter{})
				if err != nil {
					return err
				}
				p := previewOf(list, now, until.Value, func(nth, listed int) bool {
					return asJSON && (most == 0 || listed < most) || !asJSON && nth <= frequent
				})
				if asJSON {
					return env.PrintJSON(p)
				}
				p.fold(most)
				return p.print(env, until.Value)
			})
		},
	}
	flags := command.Flags()
	flags.Var(&until, "until", "how far to look ahead, such as 2d (default 24h)")
	flags.IntVarP(&most, "limit", "n", 1000, "maximum number of lines; 0 shows all")
	ui.JSONFlag(command, &asJSON)
	return command
}

// previewOf gathers the ticks of tasks until a time. It lists those that lists says: the nth of a task, after so many
// that are listed.
func previewOf(tasks []periodic.Task, now, until time.Time, lists func(nth, listed int) bool) *preview {
	p := &preview{Ticks: []previewTick{}, Busiest: []busyMinute{}, Skips: []skippedTick{}, of: map[string]int{}}
	minutes := map[time.Time]int{}
	for u := range periodic.Preview(tasks, now, until) {
		p.Total++
		p.of[u.Task.ID]++
		minutes[u.NextRun.UTC().Truncate(time.Minute)]++
		if nth := p.of[u.Task.ID]; lists(nth, len(p.Ticks)) {
			p.Ticks = append(p.Ticks, previewTick{u.Task.ID, u.NextRun, u.Due, u.Task, nth})
		}
	}
	for minute, n := range minutes {
		if n > 1 {
			p.Busiest = append(p.Busiest, busyMinute{minute, n})
		}
	}
	slices.SortFunc(p.Busiest, func(a, b busyMinute) int { return cmp.Or(cmp.Compare(b.Ticks, a.Ticks), a.Minute.Compare(b.Minute)) })
	p.Busiest = p.Busiest[:min(len(p.Busiest), shownMinutes)]
	for i := range tasks {
		for _, s := range tasks[i].SkipsToCome(now) {
			if s.Due.Before(until) {
				p.Skips = append(p.Skips, skippedTick{tasks[i].ID, s})
			}
		}
	}
	return p
}

// fold leaves one line for each frequent task, and as many lines as are wanted.
func (p *preview) fold(most int) {
	p.Ticks = slices.DeleteFunc(p.Ticks, func(t previewTick) bool { return t.nth > 1 && p.of[t.ID] > frequent })
	if most > 0 {
		p.Ticks = p.Ticks[:min(len(p.Ticks), most)]
	}
}

func (p *preview) print(env *ui.Env, until time.Time) error {
	header := []string{"NEXT RUN", "LEFT", "TASK", "REPEATS"}
	if !slices.ContainsFunc(p.Ticks, func(t previewTick) bool { return p.of[t.ID] > frequent }) {
		header = header[:3]
	}
	t, more := ui.NewTable(header...).Least("LEFT").IfEmpty("no ticks until "+env.Moment(until)+"; --until looks further"), p.Total
	for _, tick := range p.Ticks {
		repeats := ""
		if n := p.of[tick.ID]; n > frequent {
			repeats = ui.Counted(n, "time") + ": " + tick.task.Timer
			more -= n - 1
		}
		more--
		t.Add([]any{env.Moment(tick.NextRun), env.Ago(tick.NextRun), tick.ID, repeats}[:len(header)]...)
	}
	err := env.PrintTable(t, nil, false)
	if more > 0 {
		err = cmp.Or(err, env.Printf("and %d more; -n 0 shows all\n", more))
	}
	for i, s := range p.Skips {
		err = cmp.Or(err, env.Printf("%s%s: tick of %s: %s\n", "\n"[min(i, 1):], ui.Cell(s.ID), env.Moment(s.Due), ui.Cell(view.Because(periodic.CausePerson, s.Reason))))
	}
	if len(p.Busiest) == 0 {
		return err
	}
	busiest := ui.NewTable("BUSIEST MINUTES", "TICKS")
	for _, b := range p.Busiest {
		busiest.Add(env.Moment(b.Minute), b.Ticks)
	}
	return cmp.Or(err, env.Printf("\n"), env.PrintTable(busiest, nil, false))
}
