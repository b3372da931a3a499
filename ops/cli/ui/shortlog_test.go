package ui

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/scheduler"
)

// What somebody at a terminal reads of ticks and jobs.
func TestShortLog(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 14, 33, 20, 0, time.UTC)
	ended := func(state jobqueue.State, job jobqueue.Job, attempts int, took time.Duration, text string) executor.Event {
		e := executor.Event{Kind: executor.EventEnded, Job: job, State: state, Attempts: attempts, Duration: took}
		if text != "" {
			e.Err = errors.New(text)
		}
		return e
	}
	ticked := func(d periodic.Decision, id string, cause periodic.Cause, missed int) scheduler.Event {
		return scheduler.Event{Kind: scheduler.EventTick, Task: &periodic.Task{}, Tick: periodic.Tick{TaskID: id, Decision: d, Cause: cause, Missed: missed}}
	}
	const ms = time.Millisecond
	for _, c := range []struct {
		level logrus.Level
		event any
		want  string
	}{
		{logrus.WarnLevel, ended("failed", jobqueue.Job{Tracker: "broken", Task: "list", Retries: 1}, 2, 8*ms, "ls: exit status 2"),
			"14:33:20  broken            failed     ls: exit status 2 (attempt 2 of 2, 8 ms)"},
		{logrus.InfoLevel, ended("success", jobqueue.Job{Task: "list"}, 0, 8*ms, ""),
			"14:33:20  list              done       (8 ms)"},
		{logrus.WarnLevel, ended("stuck", jobqueue.Job{Tracker: "flaky"}, 3, time.Second, "timeout"),
			"14:33:20  flaky             retry      timeout (attempt 1 of 3, 1.00 s)"},
		{logrus.InfoLevel, ticked(periodic.Skipped, "nightly", periodic.CauseOverlap, 0),
			"14:33:20  nightly           skipped    a job of the task had not ended"},
		{logrus.WarnLevel, ticked(periodic.Missed, "clock", periodic.CauseNewest, 1),
			"14:33:20  clock             missed     1 tick: not decided in time, and a newer tick took its place"},
		{logrus.InfoLevel, scheduler.Event{Kind: scheduler.EventTick, Tick: periodic.Tick{TaskID: "slow", Decision: periodic.Skipped, Reason: "the disk of the host that it runs on is as full as can be"}},
			"14:33:20  slow              skipped    the disk of the host that it runs on is …"},
		{logrus.InfoLevel, ticked(periodic.Submitted, "backup", "", 0),
			"14:33:20  backup            submitted"},
		{logrus.InfoLevel, scheduler.Event{Kind: scheduler.EventTick, Task: &periodic.Task{Sink: periodic.SinkEvent, Group: "billing"},
			Tick: periodic.Tick{TaskID: "invoice", Decision: periodic.Submitted}},
			"14:33:20  invoice           event      topic billing"},
		{logrus.WarnLevel, scheduler.Event{Kind: scheduler.EventProblem, Task: &periodic.Task{ID: "bad\x1b[31m"}, Problem: "timer \"x\"\nis unknown"},
			"14:33:20  bad?[31m          problem    timer \"x\" is unknown"},
		{logrus.InfoLevel, executor.Event{Kind: executor.EventStopping, Count: 2}, ""},
		{logrus.InfoLevel, executor.Event{Kind: executor.EventStopping, Count: 2, Running: "slow"}, "14:33:20  any words  task=x"},
		{logrus.WarnLevel, scheduler.Event{Kind: scheduler.EventSplit}, "14:33:20  any words  task=x  jid=y"},
	} {
		f := &shortFormatter{zone: time.UTC, device: Terminal{Width: 80}}
		entry := logrus.New().WithContext(service.About(c.event)).WithFields(logrus.Fields{"task": "x", "jid": "y"})
		entry.Time, entry.Level, entry.Message = at, c.level, "any words"
		line, err := f.Format(entry)
		if got := strings.TrimSuffix(string(line), "\n"); err != nil || got != c.want {
			t.Errorf("got  %q, %v\nwant %q", got, err, c.want)
		}
	}
}

// What somebody at a terminal reads of the rest.
func TestShortLogOfOthers(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 14, 33, 20, 0, time.UTC)
	for _, c := range []struct {
		level   logrus.Level
		message string
		fields  logrus.Fields
		want    string
	}{
		{logrus.InfoLevel, "started", logrus.Fields{"db": "sqlite:a b", "name": "host"},
			"14:33:20  started  db=\"sqlite:a b\""},
		{logrus.ErrorLevel, "database does not work, retrying", logrus.Fields{"error": "refused", "name": "x"},
			"14:33:20  database does not work, retrying  error=refused  name=x"},
	} {
		f := &shortFormatter{zone: time.UTC, device: Terminal{Width: 80}}
		line, err := f.Format(&logrus.Entry{Time: at, Level: c.level, Message: c.message, Data: c.fields, Context: t.Context()})
		if got := strings.TrimSuffix(string(line), "\n"); err != nil || got != c.want {
			t.Errorf("got  %q, %v\nwant %q", got, err, c.want)
		}
	}
}

// In files lines have the date and a zone, and the fields that matter most come first.
func TestLogLine(t *testing.T) {
	t.Parallel()
	entry := &logrus.Entry{Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.FixedZone("", 3600)), Level: logrus.WarnLevel, Message: "job ended",
		Data: logrus.Fields{"jid": "j", "group": "g", "error": "a b", "state": "failed", "task": "i", "took": 1234567 * time.Nanosecond}}
	got, err := lineFormatter{}.Format(entry)
	want := "2026-03-01 12:00:00+01:00 WARN  job ended         task=i  state=failed  error=\"a b\"  group=g  jid=j  took=1ms\n"
	if err != nil || string(got) != want {
		t.Errorf("got  %q, %v\nwant %q", got, err, want)
	}
}
