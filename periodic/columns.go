package periodic

import (
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/column"
)

// A Column is a column of periodic_task.
type Column = column.Column[Task]

// Columns are the columns of periodic_task that a [Task] holds, first those of people.
// SQL, JSON, files of tasks, flags and pages are made from them, in this order.
func Columns() []Column { return slices.Concat(userColumns, systemColumns) }

// userColumns are the columns that people own, but nextrun, which schedulers write, too.
var userColumns = ofPeople([]Column{
	{Name: "id", Field: column.TextIn(func(t *Task) *string { return &t.ID })},
	{
		Name: "handler", Row: "task", Job: true, Field: column.TextIn(func(t *Task) *string { return &t.Task }),
		Help: "`name` of the handler that runs the jobs",
	},
	{
		Name: "timer", Field: column.TextIn(func(t *Task) *string { return &t.Timer }),
		Help: "when: a calendar event, a cron expression, an interval or never",
	},
	{
		Name: "summary", Field: column.TextOrNull(func(t *Task) *string { return &t.Summary }),
		Help: "what the task is for",
	},
	{Name: "enabled", Field: column.TruthIn(func(t *Task) *bool { return &t.Enabled })},
	{
		Name: "group", Row: "group_", Job: true, Field: column.TextIn(func(t *Task) *string { return &t.Group }),
		Help: "group of the jobs; groups take turns",
	},
	{
		Name: "args", Job: true, Field: column.JSONIn(func(t *Task) *string { return &t.Args }),
		Help: "input of the handler, `JSON`; - reads it from standard input",
	},
	{
		Name: "subject", Job: true, Field: column.TextIn(func(t *Task) *string { return &t.Subject }),
		Help: "subject of the jobs",
	},
	{
		Name: "submitter", Job: true, Field: column.TextIn(func(t *Task) *string { return &t.Submitter }),
		Help: "submitter of the jobs",
	},
	{
		Name: "priority", Job: true, Field: column.NumberIn(func(t *Task) *int { return &t.Priority }),
		Help: "priority of the jobs: 0 low, 10 high",
	},

	// which ticks there are
	{
		Name: "starts", Field: column.TimeIn(func(t *Task) *time.Time { return &t.Starts }),
		Help: "no tick before this time, or none",
	},
	{
		Name: "ends", Field: column.TimeIn(func(t *Task) *time.Time { return &t.Ends }),
		Help: "no tick at this time or later, or none",
	},
	{
		Name: "exclude_calendars", Field: column.TextOrNull(func(t *Task) *string { return &t.Days.Exclude }),
		Help: "no tick on the days of these `calendars`, separated by commas",
	},

	// what becomes of them
	{
		Name: "overlap", Field: column.TextIn(func(t *Task) *Overlap { return &t.Overlap }),
		Allowed: []string{string(OverlapSkip), string(OverlapQueue), string(OverlapReplace), string(OverlapAllow)},
		Help:    "what to do while the task's last job has not ended",
	},
	{
		Name: "catchup", Field: column.TextIn(func(t *Task) *Catchup { return &t.Catchup }),
		Allowed: []string{string(CatchupOne), string(CatchupNone), string(CatchupAll)},
		Help:    "which missed ticks are submitted",
	},
	{
		Name: "grace", Field: column.SecondsIn(func(t *Task) *time.Duration { return &t.Grace }),
		Help: "with --catchup none: how old a tick may be",
	},
	{
		Name: "deadline", Field: column.Pointer(func(t *Task) **time.Duration { return &t.Deadline }, column.SecondsIn),
		Help: "how late a tick may be submitted, such as 90 or 1h30m, or none",
	},
	{
		Name: "catchup_limit", Field: column.CountOrNull(func(t *Task) *int { return &t.CatchupLimit }),
		Help: "with --catchup all: only the newest so many of the missed ticks are submitted, or none",
	},
	{
		Name: "jitter", Field: column.SecondsIn(func(t *Task) *time.Duration { return &t.Jitter }),
		Help: "delay all ticks by a part of this time that the id determines",
	},
	{
		Name: "sink", Field: column.TextIn(func(t *Task) *Sink { return &t.Sink }),
		Help: "`queue` of the jobs: job, event, or one of the section queues of --config",
	},
	{
		Name: "pause_after", Field: column.CountOrNull(func(t *Task) *int { return &t.PauseAfter }),
		Help: "pause the task after so many failures in a row, or none",
	},

	// limits of the jobs
	{
		Name: "retry_limit", Job: true, Field: column.Pointer(func(t *Task) **int { return &t.RetryLimit }, column.CountIn),
		Help: "how often a job is tried again after a failure, or none for the handler's",
	},
	{
		Name: "retry_delay", Job: true, Field: column.SecondsOrNull(func(t *Task) *time.Duration { return &t.RetryDelay }),
		Help: "wait before the first retry, such as 90 or 1h30m, or none for the handler's",
	},
	{
		Name: "timeout", Job: true, Field: column.SecondsOrNull(func(t *Task) *time.Duration { return &t.Timeout }),
		Help: "how long an attempt may take, or none for the handler's",
	},
})

func ofPeople(list []Column) []Column {
	for i := range list {
		list[i].User = true
	}
	return list
}

// systemColumns are those that nextrun writes, and those of a pause.
var systemColumns = []Column{
	{Name: "worker", Field: column.TextOrNull(func(t *Task) *string { return &t.Worker })},
	{Name: "marked", Field: column.TimeIn(func(t *Task) *time.Time { return &t.Marked })},
	{Name: "nextrun", Field: column.TimeIn(func(t *Task) *time.Time { return &t.NextRun })},
	{Name: "created", Field: column.TimeIn(func(t *Task) *time.Time { return &t.Created })},
	{Name: "due", Field: column.TimeIn(func(t *Task) *time.Time { return &t.Due })},
	{Name: "paused", Field: column.TimeIn(func(t *Task) *time.Time { return &t.Pause.Since })},
	{Name: "paused_until", Field: column.TimeIn(func(t *Task) *time.Time { return &t.Pause.Until })},
	{Name: "paused_by", Field: column.TextOrNull(func(t *Task) *string { return &t.Pause.By })},
	{Name: "paused_reason", Field: column.TextOrNull(func(t *Task) *string { return &t.Pause.Reason })},
	{Name: "origin", Field: column.TextOrNull(func(t *Task) *string { return &t.Origin })},
	{Name: "problem", Field: column.TextOrNull(func(t *Task) *string { return &t.Problem })},
}

// compare returns the columns in which a row differs from the wanted task.
func compare(row, wanted *Task) []ColumnChange {
	var list []ColumnChange
	for _, c := range userColumns {
		from, to := c.Get(row), c.Get(wanted)
		if from != to && (c.Kind != column.JSON || !column.SameJSON(from.Text, to.Text)) {
			list = append(list, ColumnChange{Column: c.Name, From: from.String(), To: to.String()})
		}
	}
	return list
}
