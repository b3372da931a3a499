package jobqueue

import (
	"time"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/internal/traceparent"
)

// A Column is a column of the table job.
type Column = column.Column[Job]

// Columns are the columns of the table job that a [Job] holds. SQL, JSON, flags and what
// `job show` says are made from them, in this order.
func Columns() []Column { return append(SubmitColumns(), runColumns()...) }

// SubmitColumns are the columns that who submits a job sets.
func SubmitColumns() []Column {
	list := []Column{
		{Name: "jid", Field: column.TextIn(func(j *Job) *string { return &j.JID })},
		{Name: "handler", Row: "task", Field: column.TextIn(func(j *Job) *string { return &j.Task })},
		{
			Name: "group", Row: "group_", Field: column.TextIn(func(j *Job) *string { return &j.Group }),
			Help: "group of the job; groups take turns",
		},
		{
			Name: "args", Field: column.JSONIn(func(j *Job) *string { return &j.Args }),
			Help: "input of the handler, `JSON`; - reads it from standard input",
		},
		{
			Name: "subject", Field: column.TextIn(func(j *Job) *string { return &j.Subject }),
			Help: "what the job is about",
		},
		{
			Name: "submitter", Field: column.TextIn(func(j *Job) *string { return &j.Submitter }),
			Help: "who submits it",
		},
		{
			Name: "priority", Field: column.NumberIn(func(j *Job) *int { return &j.Priority }),
			Help: "0 low, 10 high",
		},
		{
			Name: "task", Row: "tracker", Field: column.TextOrNull(func(j *Job) *string { return &j.Tracker }),
			Help: "`id` of the task that it counts for, or another name to find it by",
		},
		{Name: "due", Field: column.TimeIn(func(j *Job) *time.Time { return &j.Due })},
		{
			Name: "single", Field: column.TruthIn(func(j *Job) *bool { return &j.Single }),
			Help: "refuse the job while another single job of the task has not ended",
		},
		{Name: "retry", Field: column.TimeIn(func(j *Job) *time.Time { return &j.Retry })},
		{Name: "traceparent", Field: column.In(column.Text, func(j *Job) *string { return &j.Traceparent },
			func(s string, v *column.Value) { v.Null, v.Text = s == "", s },
			func(v column.Value) string { return traceparent.Clean(v.Text) })},
	}
	return append(list, limitColumns()...)
}

func limitColumns() []Column {
	return []Column{
		{
			Name: "retry_limit", Field: column.In(column.Count, func(j *Job) *int { return &j.Limits.RetryLimit }, retryLimit, setRetryLimit),
			Help: "how often the job is tried again after a failure, or none for the handler's",
		},
		{
			Name: "retry_delay", Field: column.SecondsOrNull(func(j *Job) *time.Duration { return &j.Limits.RetryDelay }),
			Help: "wait before the first retry, such as 90 or 1h30m, or none for the handler's",
		},
		{
			Name: "timeout", Field: column.SecondsOrNull(func(j *Job) *time.Duration { return &j.Limits.Timeout }),
			Help: "how long an attempt may take, or none for the handler's",
		},
	}
}

// retryLimit is the column's value: 0 of [Never], and NULL of 0, which is not set.
func retryLimit(n int, v *column.Value) { v.Null, v.Number = n == 0, max(n, 0) }

func setRetryLimit(v column.Value) int {
	if !v.Null && v.Number == 0 {
		return Never
	}
	return v.Number
}

// runColumns say what becomes of a job.
func runColumns() []Column {
	return []Column{
		{Name: "submitted", Field: column.TimeIn(func(j *Job) *time.Time { return &j.Submitted })},
		{Name: "state", Field: column.In(column.Text, func(j *Job) *State { return &j.State },
			func(s State, v *column.Value) { v.Text = s.Word() },
			func(v column.Value) State { return State(v.Text) })},
		{Name: "retries", Field: column.NumberIn(func(j *Job) *int { return &j.Retries })},
		{Name: "interrupts", Field: column.NumberIn(func(j *Job) *int { return &j.Interrupts })},
		{Name: "progress", Field: column.NumberIn(func(j *Job) *int { return &j.Progress })},
		{Name: "worker", Field: column.TextOrNull(func(j *Job) *string { return &j.Worker })},
		{Name: "started", Field: column.TimeIn(func(j *Job) *time.Time { return &j.Started })},
		{Name: "finished", Field: column.TimeIn(func(j *Job) *time.Time { return &j.Finished })},
		{Name: "cancel", Field: column.TimeIn(func(j *Job) *time.Time { return &j.Cancel })},
		{Name: "result", Field: column.TextOrNull(func(j *Job) *string { return &j.Result })},
	}
}
