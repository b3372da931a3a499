package task

import (
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/task"
)

// taskFlags are the columns of a task that `task add` and `task set` take. Each flag has
// its column's name, but the handler of the jobs, the column task.
type taskFlags struct {
	args string
	set  map[string]func(*periodic.Task) // by the names of the flags
}

func (f *taskFlags) register(command *cobra.Command) {
	f.set = map[string]func(*periodic.Task){}
	flags := command.Flags()
	for _, c := range task.UserColumns() {
		name := strings.ReplaceAll(c.Name, "_", "-")
		if c.Name == "task" {
			name = "handler"
		}
		if c.Help != "" {
			value := f.flag(flags, name, c)
			f.set[name] = func(t *periodic.Task) { c.Set(t, value()) }
		}
	}
	same := *flags.Lookup("handler")
	same.Name, same.Usage, same.Hidden = "task", "the same as --handler", true
	flags.AddFlag(&same)
	f.set["task"] = f.set["handler"]
}

// flag adds the flag of a column, and returns what gives its value.
func (f *taskFlags) flag(flags *pflag.FlagSet, name string, c task.Column) func() column.Value {
	standard := periodic.NewTask("", "", "")
	v := column.Value{Kind: c.Kind}
	none := c.Get(&periodic.Task{}).Null // NULL is a value
	switch c.Kind {
	case column.JSON:
		flags.StringVar(&f.args, name, c.Get(&standard).Text, c.Help)
		return func() column.Value { v.Text = f.args; return v }
	case column.Number:
		flags.IntVar(&v.Number, name, c.Get(&standard).Number, c.Help)
	case column.Count:
		var n ui.CountFlag
		flags.Var(&n, name, c.Help)
		return func() column.Value { v.Null, v.Number = n.Value == nil, n.Number(); return v }
	case column.Seconds:
		s := ui.SecondsFlag{AllowNone: none}
		flags.Var(&s, name, c.Help)
		return func() column.Value {
			v.Null, v.Number = s.Value == nil, int(s.Duration()/time.Second)
			return v
		}
	case column.Time:
		at := ui.TimeFlag{AllowNone: none}
		flags.Var(&at, name, c.Help)
		return func() column.Value { v.Time = at.Value; return v }
	default:
		if c.Allowed == nil {
			flags.StringVar(&v.Text, name, c.Get(&standard).Text, c.Help)
			break
		}
		one := ui.Choice{Allowed: c.Allowed}
		flags.Var(&one, name, c.Help)
		return func() column.Value { v.Text = one.Value; return v }
	}
	return func() column.Value { return v }
}

// apply writes the flags that were given into a task, and reports whether there
// were any.
func (f *taskFlags) apply(command *cobra.Command, t *periodic.Task) (given bool) {
	for name, set := range f.set {
		if command.Flags().Changed(name) {
			given = true
			set(t)
		}
	}
	return given
}
