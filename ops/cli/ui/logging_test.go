package ui

import (
	"testing"
	"time"

	"github.com/sirupsen/logrus"
)

func TestLogLine(t *testing.T) {
	t.Parallel()
	entry := &logrus.Entry{
		Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.FixedZone("", 3600)), Level: logrus.InfoLevel, Message: "done",
		Data: logrus.Fields{"took": 1234567 * time.Nanosecond, "text": "a b", "n": 3},
	}
	got, err := lineFormatter{}.Format(entry)
	want := "2026-03-01 12:00:00+01:00 INFO  done              n=3  text=\"a b\"  took=1ms\n"
	if err != nil || string(got) != want {
		t.Errorf("got  %q, %v\nwant %q", got, err, want)
	}
}
