package show

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/periodic"
)

// column is a column that users own, with its value as SQL writes it.
type column struct{ name, value string }

// columnsOf are those of a task that are not as they are by default. Args are masked.
func columnsOf(t *periodic.Task, m Mask) []column {
	d := periodic.NewTask(t.ID, t.Task, t.Timer)
	var c columns
	c.truth("enabled", t.Enabled, true)
	c.text("group_", t.Group, d.Group)
	c.text("args", m.Args(t.Args), m.Args(d.Args))
	c.text("subject", t.Subject, d.Subject)
	c.text("submitter", t.Submitter, d.Submitter)
	c.text("summary", t.Summary, d.Summary)
	c.text("sink", string(t.Sink), string(d.Sink))
	c.text("overlap", string(t.Overlap), string(d.Overlap))
	c.text("catchup", string(t.Catchup), string(d.Catchup))
	c.number("priority", t.Priority, d.Priority)
	c.seconds("grace", t.Grace, d.Grace)
	c.seconds("jitter", t.Jitter, d.Jitter)
	if t.Deadline != nil {
		c.seconds("deadline", *t.Deadline, -time.Second)
	}
	c.time("starts", t.Starts)
	c.time("ends", t.Ends)
	if t.RetryLimit != nil {
		c.number("retry_limit", *t.RetryLimit, -1)
	}
	c.seconds("retry_delay", t.RetryDelay, 0)
	c.seconds("timeout", t.Timeout, 0)
	c.number("concurrency", t.Concurrency, 0)
	return c
}

// Setting is a column of the row that is not as it is by default.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// columns collects what is not as by default.
type columns []column

func (c *columns) text(name, value, byDefault string) {
	if value != byDefault {
		*c = append(*c, column{name, quote(value)})
	}
}

func (c *columns) number(name string, value, byDefault int) {
	if value != byDefault {
		*c = append(*c, column{name, strconv.Itoa(value)})
	}
}

func (c *columns) seconds(name string, value, byDefault time.Duration) {
	c.number(name, int(value/time.Second), int(byDefault/time.Second))
}

func (c *columns) truth(name string, value, byDefault bool) {
	if value != byDefault {
		*c = append(*c, column{name, strconv.FormatBool(value)})
	}
}

func (c *columns) time(name string, value time.Time) {
	if !value.IsZero() {
		*c = append(*c, column{name, quote(value.UTC().Format("2006-01-02 15:04:05.000000"))})
	}
}

// Settings are the columns as people read them.
func Settings(t *periodic.Task, m Mask) []Setting {
	var list []Setting
	for _, c := range columnsOf(t, m) {
		if c.name != "args" && c.name != "enabled" {
			list = append(list, Setting{c.name, strings.ReplaceAll(strings.Trim(c.value, "'"), "''", "'")})
		}
	}
	return list
}

// RowSQL is the statement that adds the row to another database.
func RowSQL(t *periodic.Task, m Mask) string {
	names, values := []string{"id", "task", "timer"}, []string{quote(t.ID), quote(t.Task), quote(t.Timer)}
	for _, c := range columnsOf(t, m) {
		names, values = append(names, c.name), append(values, c.value)
	}
	return fmt.Sprintf("INSERT INTO periodic_task (%s)\nVALUES (%s);", strings.Join(names, ", "), strings.Join(values, ", "))
}

// quote is a text as SQL writes it, without what could deceive a reader.
func quote(text string) string {
	return "'" + strings.ReplaceAll(Printable(text), "'", "''") + "'"
}
