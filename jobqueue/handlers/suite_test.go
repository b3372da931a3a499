package handlers_test

import (
	"context"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/handlers"
)

func TestMain(m *testing.M) {
	for _, name := range []string{"SECRET", "NAMED", "OPEN"} { // parallel tests cannot set variables
		_ = os.Setenv("HANDLERS_TEST_"+name, "of the process")
	}
	_ = os.Setenv("NOTIFY_SOCKET", "of systemd") // for this process alone
	goleak.VerifyTestMain(m)
}

// attempt is what a handler has said, and returned.
type attempt struct {
	jobqueue.Record
	log []string
	err error
}

// run calls a handler as an executor does.
func run(ctx context.Context, h jobqueue.Handler, job jobqueue.Job) attempt {
	job.Task = "t"
	c := jobqueue.NewJobContext(job)
	a := attempt{err: h(ctx, c)}
	a.Record = c.Record()
	for _, line := range a.Lines {
		a.log = append(a.log, line.Message)
	}
	return a
}

// command makes a handler of a program.
func command(t *testing.T, cfg handlers.CommandConfig) jobqueue.Handler {
	t.Helper()
	h, err := handlers.Command(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func script(text string) []string { return []string{"/bin/sh", "-c", text} }
