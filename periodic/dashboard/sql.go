package dashboard

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/periodic"
)

// column is a column that users own, with its value as SQL writes it.
type column struct{ name, value string }

// columns are those of a task that are not as they are by default. Args are masked.
func (s *server) columns(t *periodic.Task) []column {
	d := periodic.NewTask(t.ID, t.Task, t.Timer)
	var list []column
	text := func(name, value, byDefault string) {
		if value != byDefault {
			list = append(list, column{name, quote(value)})
		}
	}
	seconds := func(name string, value, byDefault time.Duration) {
		if value != byDefault {
			list = append(list, column{name, strconv.FormatInt(int64(value/time.Second), 10)})
		}
	}
	at := func(name string, value time.Time) {
		if !value.IsZero() {
			list = append(list, column{name, quote(value.UTC().Format("2006-01-02 15:04:05.000000"))})
		}
	}
	if !t.Enabled {
		list = append(list, column{"enabled", "false"})
	}
	text("group_", t.Group, d.Group)
	text("args", s.args(t.Args), s.args(d.Args))
	text("subject", t.Subject, d.Subject)
	text("submitter", t.Submitter, d.Submitter)
	text("summary", t.Summary, d.Summary)
	text("sink", string(t.Sink), string(d.Sink))
	text("overlap", string(t.Overlap), string(d.Overlap))
	text("catchup", string(t.Catchup), string(d.Catchup))
	if t.Priority != d.Priority {
		list = append(list, column{"priority", strconv.Itoa(t.Priority)})
	}
	seconds("grace", t.Grace, d.Grace)
	seconds("jitter", t.Jitter, d.Jitter)
	if t.Deadline != nil {
		seconds("deadline", *t.Deadline, -1)
	}
	at("starts", t.Starts)
	at("ends", t.Ends)
	if t.RetryLimit != nil {
		list = append(list, column{"retry_limit", strconv.Itoa(*t.RetryLimit)})
	}
	seconds("retry_delay", t.RetryDelay, 0)
	seconds("timeout", t.Timeout, 0)
	if t.Concurrency != 0 {
		list = append(list, column{"concurrency", strconv.Itoa(t.Concurrency)})
	}
	return list
}

// settings are the columns as people read them.
func (s *server) settings(t *periodic.Task) []setting {
	var list []setting
	for _, c := range s.columns(t) {
		if c.name != "args" && c.name != "enabled" {
			list = append(list, setting{c.name, strings.ReplaceAll(strings.Trim(c.value, "'"), "''", "'")})
		}
	}
	return list
}

// sql is the statement that adds the row to another database.
func (s *server) sql(t *periodic.Task) string {
	names, values := []string{"id", "task", "timer"}, []string{quote(t.ID), quote(t.Task), quote(t.Timer)}
	for _, c := range s.columns(t) {
		names, values = append(names, c.name), append(values, c.value)
	}
	return fmt.Sprintf("INSERT INTO periodic_task (%s)\nVALUES (%s);", strings.Join(names, ", "), strings.Join(values, ", "))
}

// quote is a text as SQL writes it, without what could deceive a reader.
func quote(text string) string {
	return "'" + strings.ReplaceAll(printable(text), "'", "''") + "'"
}
