package task

import (
	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/periodic"
)

// taskFlags are the columns of a task that `task add` and `task set` take. Each
// flag has its column's name.
type taskFlags struct {
	task, timer, group, args, subject, submitter, summary, sink string
	priority                                                    int
	starts, ends                                                ui.TimeFlag
	overlap, catchup                                            ui.Choice
	grace, deadline, jitter                                     ui.SecondsFlag
	limits                                                      ui.LimitFlags
}

func (f *taskFlags) register(command *cobra.Command) {
	f.starts.AllowNone, f.ends.AllowNone, f.deadline.AllowNone = true, true, true
	f.overlap.Allowed = []string{"skip", "queue", "replace", "allow"}
	f.catchup.Allowed = []string{"one", "none", "all"}
	flags := command.Flags()
	flags.StringVar(&f.task, "handler", "", "`name` of the handler that runs the jobs, the column task")
	flags.StringVar(&f.task, "task", "", "the same as --handler")
	_ = flags.MarkHidden("task") // the flag is there
	flags.StringVar(&f.timer, "timer", "", "when: a calendar event, a cron expression or an interval")
	flags.StringVar(&f.group, "group", "default", "group of the jobs; groups take turns")
	flags.StringVar(&f.args, "args", "{}", "input of the handler, `JSON`; - reads it from standard input")
	flags.StringVar(&f.subject, "subject", "", "subject of the jobs")
	flags.StringVar(&f.submitter, "submitter", "nextrun", "submitter of the jobs")
	flags.StringVar(&f.summary, "summary", "", "what the task is for")
	flags.IntVar(&f.priority, "priority", 0, "priority of the jobs: 0 low, 10 high")
	flags.Var(&f.starts, "starts", "no tick before this time, or none")
	flags.Var(&f.ends, "ends", "no tick at this time or later, or none")
	flags.Var(&f.overlap, "overlap", "what to do while the task's last job has not ended (default skip)")
	flags.Var(&f.catchup, "catchup", "which missed ticks are submitted (default one)")
	flags.StringVar(&f.sink, "sink", "job", "`queue` of the jobs: job, event, or one of the section queues of --config")
	flags.Var(&f.grace, "grace", "with --catchup none: how old a tick may be (default 60)")
	flags.Var(&f.deadline, "deadline", "how late a tick may be submitted, such as 90 or 1h30m, or none (default none)")
	flags.Var(&f.jitter, "jitter", "maximum random delay of a tick (default 0)")
	f.limits.Register(command, "a job", "jobs of the task")
}

// apply writes the flags that were given into a task, and reports whether there
// were any.
func (f *taskFlags) apply(command *cobra.Command, t *periodic.Task) (given bool) {
	set := map[string]func(){
		"task":      func() { t.Task = f.task },
		"handler":   func() { t.Task = f.task },
		"timer":     func() { t.Timer = f.timer },
		"group":     func() { t.Group = f.group },
		"args":      func() { t.Args = f.args },
		"subject":   func() { t.Subject = f.subject },
		"submitter": func() { t.Submitter = f.submitter },
		"summary":   func() { t.Summary = f.summary },
		"priority":  func() { t.Priority = f.priority },
		"starts":    func() { t.Starts = f.starts.Value },
		"ends":      func() { t.Ends = f.ends.Value },
		"overlap":   func() { t.Overlap = periodic.Overlap(f.overlap.Value) },
		"catchup":   func() { t.Catchup = periodic.Catchup(f.catchup.Value) },
		"sink":      func() { t.Sink = periodic.Sink(f.sink) },
		"grace":     func() { t.Grace = *f.grace.Value },
		"jitter":    func() { t.Jitter = *f.jitter.Value },
		"deadline":  func() { t.Deadline = f.deadline.Value },

		"retry-limit": func() { t.RetryLimit = f.limits.RetryLimit.Value },
		"retry-delay": func() { t.RetryDelay = f.limits.RetryDelay.Duration() },
		"timeout":     func() { t.Timeout = f.limits.Timeout.Duration() },
		"concurrency": func() { t.Concurrency = f.limits.Concurrency.Number() },
	}
	for name, do := range set {
		if command.Flags().Changed(name) {
			given = true
			do()
		}
	}
	return given
}
