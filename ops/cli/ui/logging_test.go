package ui

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
)

// What somebody at a terminal reads.
func TestLogOfTerminal(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 14, 33, 20, 0, time.UTC)
	for _, c := range []struct {
		level   logrus.Level
		message string
		fields  logrus.Fields
		want    string
	}{
		{logrus.InfoLevel, "started", logrus.Fields{"db": "sqlite:a b", "name": "host"},
			"14:33:20  started        db=\"sqlite:a b\""},
		{logrus.InfoLevel, "job done", logrus.Fields{"task": "a", "group": "default"}, "14:33:20  job done       task=a"},
		{logrus.InfoLevel, "job done", logrus.Fields{"task": "a", "group": "night"}, "14:33:20  job done       task=a  group=night"},
		{logrus.ErrorLevel, "database does not work, retrying", logrus.Fields{"error": "refused", "name": "x"},
			"14:33:20  database does not work, retrying  error=refused  name=x"},
	} {
		f := lineFormatter{time.UTC, Terminal{Width: 80}}
		line, err := f.Format(&logrus.Entry{Time: at, Level: c.level, Message: c.message, Data: c.fields})
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

// The packages log with slog: levels and fields come through.
func TestHandler(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	logger := logrus.New()
	logger.SetOutput(&out)
	logger.SetFormatter(&jsonFormatter{logrus.JSONFormatter{DisableTimestamp: true}})
	log := slog.New(handler{logger: logger})
	log.Debug("not this one")
	log.With("task", "a").Warn("failed", "error", errors.New("no disk"), "attempt", 2)
	want := `{"attempt":2,"error":"no disk","level":"warning","msg":"failed","task":"a"}
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
