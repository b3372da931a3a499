package config

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/periodic"
)

func TestTasksAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	deadline := 90 * time.Second
	full := periodic.NewTask("full: id\t'", "dump", "*-*-* 02:00 Europe/Berlin")
	full.Enabled, full.Group, full.Subject, full.Submitter, full.Summary = false, "no", "12", "null", "two\nlines"
	full.Args, full.Priority, full.Grace, full.Deadline, full.Jitter = `{"a": [1, 2.5, "x", null, true]}`, -3, 0, &deadline, time.Hour
	full.Starts, full.Ends = time.Date(2026, 1, 1, 0, 0, 0, 123000, time.UTC), time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	full.Overlap, full.Catchup, full.Sink = periodic.OverlapQueue, periodic.CatchupAll, periodic.SinkEvent
	tasks := []periodic.Task{periodic.NewTask("plain", "echo", "daily"), full}
	for _, args := range []string{
		`{"n": 1.0, "big": 123456789012345678901234567890}`, `[]`, `"text"`, `12`, `null`, `not JSON`, "", "a: b", "{}  ", "- x",
		`{"date": "2026-01-01", "yes": "yes", "on": true, "e": 1e3, "~": "~", "<<": {"a": 1}}`, "\u2028 tab\t", `{"a":1,"a":2}`,
		"2026-01-01", "# no comment", `{"x": "\u0000"}`, "{a: b}", "'quoted'", "|\n  block", `"\/"`,
	} {
		task := periodic.NewTask("args "+args, "echo", "daily")
		task.Args = args
		tasks = append(tasks, task)
	}
	var file bytes.Buffer
	if err := WriteTasks(&file, tasks, nil); err != nil {
		t.Fatal(err)
	}
	read, err := ParseTasks("tasks.yaml", file.Bytes())
	got := read.Tasks
	if err != nil {
		t.Fatalf("%v in\n%s", err, file.String())
	}
	if want := "\n  plain:\n    handler: echo\n    timer: daily\n  "; !strings.Contains(file.String(), want) {
		t.Errorf("defaults are written:\n%s", file.String())
	}
	if len(got) != len(tasks) {
		t.Fatalf("%d tasks, want %d", len(got), len(tasks))
	}
	for i := range tasks {
		if !column.SameJSON(got[i].Args, tasks[i].Args) {
			t.Errorf("args %q become %q", tasks[i].Args, got[i].Args)
		}
		got[i].Args = tasks[i].Args
		if !reflect.DeepEqual(got[i], tasks[i]) {
			t.Errorf("got  %+v\nwant %+v", got[i], tasks[i])
		}
	}
}

// Aliases cannot make a small file huge.
func TestParseTasksBoundsArgs(t *testing.T) {
	t.Parallel()
	text := "tasks:\n  a:\n    handler: t\n    timer: daily\n    args:\n      - &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
	for c := 'b'; c <= 'i'; c++ {
		previous := "*" + string(c-1) + ", "
		text += "      - &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat(previous, 10), ", ") + "]\n"
	}
	ofItself := "tasks: {a: {handler: t, timer: daily, args: &a [*a, *a]}}\n"
	for _, text := range []string{text, ofItself} {
		if _, err := ParseTasks("tasks.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), "args cannot be JSON") {
			t.Errorf("got %v", err)
		}
	}
	many := "tasks:\n  a: {handler: t, timer: daily, args: &a {x: " + strings.Repeat("x", 100_000) + "}}\n"
	for i := range 1000 {
		many += fmt.Sprintf("  a%d: {handler: t, timer: daily, args: *a}\n", i)
	}
	if _, err := ParseTasks("tasks.yaml", []byte(many)); err == nil || strings.Count(err.Error(), "aliases repeat too much") != 1 {
		t.Errorf("args that others repeat: %.1000v", err)
	}
}

// The sample file shows every key, with its default.
func TestSampleTasks(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../testdata/tasks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file, err := ParseTasks("tasks.yaml", text)
	tasks := file.Tasks
	if err != nil || len(tasks) != 2 {
		t.Fatalf("%d tasks, %v", len(tasks), err)
	}
	if want := periodic.NewTask("report", "report", "Mon..Fri 08:30"); !reflect.DeepEqual(tasks[1], want) {
		t.Errorf("the sample says %+v, the defaults are %+v", tasks[1], want)
	}
	for _, task := range tasks {
		if err := task.Validate(); err != nil {
			t.Error(err)
		}
	}
	for _, c := range column.OfUsers(periodic.Columns()) {
		key := c.Name
		if key == "id" {
			continue
		}
		if !strings.Contains(string(text), " "+key+": ") {
			t.Errorf("the sample lacks %s", key)
		}
	}
}

// What is written can be read, whatever the texts are.
func FuzzWriteTasks(f *testing.F) {
	f.Add("id", "task", `{"a": 1}`, "subject")
	f.Add("- x", "#", "{a: b}", "\u2028")
	f.Fuzz(func(t *testing.T, id, name, args, subject string) {
		for _, text := range []string{id, name, args, subject} {
			if !utf8.ValidString(text) || strings.ContainsRune(text, 0) || id == "" {
				return // such a task is in no table
			}
		}
		task := periodic.NewTask(id, name, "daily")
		task.Args, task.Subject = args, subject
		var file bytes.Buffer
		if err := WriteTasks(&file, []periodic.Task{task}, nil); err != nil {
			t.Fatal(err)
		}
		read, err := ParseTasks("tasks.yaml", file.Bytes())
		got := read.Tasks
		if err != nil {
			t.Fatalf("%v in\n%s", err, file.String())
		}
		if len(got) != 1 || got[0].ID != id || got[0].Task != name || got[0].Subject != subject || !column.SameJSON(got[0].Args, args) {
			t.Fatalf("got %+v of\n%s", got, file.String())
		}
	})
}
