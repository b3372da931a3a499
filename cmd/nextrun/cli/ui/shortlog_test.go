package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
)

// What somebody at a terminal reads of ticks and jobs.
func TestShortLog(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 14, 33, 20, 0, time.UTC)
	for _, c := range []struct {
		level   logrus.Level
		message string
		fields  logrus.Fields
		want    string
	}{
		{logrus.WarnLevel, "job ended", logrus.Fields{"id": "broken", "task": "list", "state": "failed", "error": "ls: exit status 2", "attempt": 2, "max_attempts": 2, "duration": "8ms", "jid": "x"},
			"14:33:20  broken                failed     ls: exit status 2 (attempt 2 of 2, 8 ms)"},
		{logrus.InfoLevel, "job ended", logrus.Fields{"task": "list", "state": "success", "attempt": 1, "duration": "8ms"},
			"14:33:20  list                  done       (8 ms)"},
		{logrus.WarnLevel, "job ended", logrus.Fields{"id": "flaky", "state": "stuck", "error": "timeout", "attempt": 1, "max_attempts": 3, "duration": "1s"},
			"14:33:20  flaky                 retry      timeout (attempt 1 of 3, 1.00 s)"},
		{logrus.WarnLevel, "job ended", logrus.Fields{"id": "strict", "state": "failed", "error": "no such user", "attempt": 1, "max_attempts": 3},
			"14:33:20  strict                failed     no such user (attempt 1 of 3)"},
		{logrus.WarnLevel, "job ended", logrus.Fields{"id": "once", "state": "failed", "error": "no", "attempt": 1, "max_attempts": 1},
			"14:33:20  once                  failed     no"},
		{logrus.WarnLevel, "job ended", logrus.Fields{"id": "old", "state": "stuck", "error": "no", "attempt": 2},
			"14:33:20  old                   retry      no (attempt 2)"},
		{logrus.InfoLevel, "tick skipped", logrus.Fields{"id": "nightly", "reason": "the job of 14:00:00 has not ended after 33 min (job 01a1-2)", "due": "x"},
			"14:33:20  nightly               skipped    the job of 14:00:0…ended after 33 min"},
		{logrus.WarnLevel, "ticks missed", logrus.Fields{"id": "clock", "missed": 1, "reason": "no scheduler ran in time"},
			"14:33:20  clock                 missed     1 tick: no scheduler ran in time"},
		{logrus.WarnLevel, "task has a problem", logrus.Fields{"id": "bad\x1b[31m", "problem": "timer \"x\"\nis unknown"},
			"14:33:20  bad?[31m              problem    timer \"x\" is unknown"},
		{logrus.InfoLevel, "executor is stopping", logrus.Fields{"jobs": 2}, ""},
		{logrus.InfoLevel, Stopping, logrus.Fields{}, "14:33:20  stopping"},
		{logrus.InfoLevel, Stopping, logrus.Fields{"jobs": 2, "running": "patient, slow", "grace": 20 * time.Second},
			"14:33:20  stopping: waiting up to 20 s for 2 jobs (patient, slow); press Ctrl-C again to stop now"},
		{logrus.InfoLevel, "started", logrus.Fields{"db": "sqlite:a b", "name": "host"},
			"14:33:20  started  db=\"sqlite:a b\""},
		{logrus.ErrorLevel, "database does not work, retrying", logrus.Fields{"error": "refused", "name": "x"},
			"14:33:20  database does not work, retrying  error=refused  name=x"},
	} {
		f := &shortFormatter{zone: time.UTC, device: Terminal{Width: 80}}
		f.about.Store(20) // there was a long id before
		line, err := f.Format(&logrus.Entry{Time: at, Level: c.level, Message: c.message, Data: c.fields})
		if got := strings.TrimSuffix(string(line), "\n"); err != nil || got != c.want {
			t.Errorf("got  %q, %v\nwant %q", got, err, c.want)
		}
	}
}

// The column of ids is as wide as they need, so that details have room.
func TestShortLogGrowsWithIDs(t *testing.T) {
	t.Parallel()
	f := &shortFormatter{zone: time.UTC, device: Terminal{Width: 80}}
	at := time.Date(2026, 3, 1, 14, 33, 20, 0, time.UTC)
	for _, c := range []struct{ id, want string }{
		{"slow", "14:33:20  slow        skipped    the job of 14:00:00 has not ended after 33 min"},
		{"a-longer-name", "14:33:20  a-longer-name  skipped    the job of 14:00:00 ha…ot ended after 33 min"},
		{"slow", "14:33:20  slow           skipped    the job of 14:00:00 ha…ot ended after 33 min"},
	} {
		line, err := f.Format(&logrus.Entry{Time: at, Level: logrus.InfoLevel, Message: "tick skipped", Data: logrus.Fields{
			"id": c.id, "reason": "the job of 14:00:00 has not ended after 33 min (job 01a2-0087)"}})
		if got := strings.TrimSuffix(string(line), "\n"); err != nil || got != c.want {
			t.Errorf("got  %q, %v\nwant %q", got, err, c.want)
		}
	}
}

// The fields that matter most come first, in every format.
func TestLogFieldsInOrder(t *testing.T) {
	t.Parallel()
	entry := &logrus.Entry{Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Level: logrus.WarnLevel, Message: "job ended",
		Data: logrus.Fields{"jid": "j", "group": "g", "error": "a b", "state": "failed", "id": "i", "other": 1}}
	got, err := logfmtFormatter{}.Format(entry)
	want := "time=2026-03-01T12:00:00.000Z level=warning msg=\"job ended\" id=i state=failed error=\"a b\" other=1 group=g jid=j\n"
	if err != nil || string(got) != want {
		t.Errorf("got  %q, %v\nwant %q", got, err, want)
	}
}
