package hooks

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/internal/web"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/handlers"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/webhook"
)

// DefaultTimeout bounds a [Command] that sets no timeout, and a [Ping].
const DefaultTimeout = 10 * time.Second

// Action is what a hook does, as the work of the job that delivers its notice. It is safe for
// concurrent use. It is tried again after an error; jobqueue.Permanent marks one that no retry would help.
type Action struct {
	do func(ctx context.Context, job *jobqueue.JobContext, n Notice) error

	// Submit is the id of the periodic task that the action submits: it gets a tick at the time of
	// the event, which a scheduler handles as the policies of the task say. Delivered
	// twice, it still is one tick. A task that is disabled or paused, or outside its Starts and Ends,
	// is skipped. Empty: the action does something else.
	Submit string
	// First has an action of OnFailure do only the first of the failures of a task in a
	// row: when it turns red. Jobs of no tick have no such failure.
	First bool
}

// None is the action of a hook that does nothing: it silences a more general one.
var None = &Action{do: func(context.Context, *jobqueue.JobContext, Notice) error { return nil }}

// Func makes an action of a function. The notice may come more than once, with the
// same ID.
func Func(do func(ctx context.Context, n Notice) error) *Action {
	return &Action{do: func(ctx context.Context, _ *jobqueue.JobContext, n Notice) error { return do(ctx, n) }}
}

// Live makes an action that does what the one does that current returns at that time, and hears of the first failures in a
// row alone if first is set.
func Live(first bool, current func() *Action) *Action {
	return &Action{First: first, do: func(ctx context.Context, job *jobqueue.JobContext, n Notice) error { return current().do(ctx, job, n) }}
}

// Command returns the action that runs a program, as a handler's command: with the notice as JSON on
// standard input, with its main parts as variables (NEXTRUN_EVENT, NEXTRUN_HOOK,
// NEXTRUN_EVENT_ID, NEXTRUN_ERROR), and with those of the job that has ended. Its Timeout is 10 s unless it is
// set.
func Command(c handlers.CommandConfig) (*Action, error) {
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	return &Action{do: func(ctx context.Context, job *jobqueue.JobContext, n Notice) error {
		first, _, _ := strings.Cut(n.Error, "\n")
		cfg := c
		cfg.Env = slices.Concat(c.Env, []string{
			"NEXTRUN_EVENT=" + string(n.Event), "NEXTRUN_HOOK=" + n.Hook, "NEXTRUN_EVENT_ID=" + n.ID, "NEXTRUN_ERROR=" + first,
		})
		run, err := handlers.Command(cfg)
		if err != nil {
			return jobqueue.Permanent(err)
		}
		told := *job
		told.Job = n.asJob()
		return run(ctx, &told)
	}}, c.Validate()
}

// Post returns the action that posts the notice as JSON. Signature, headers and what
// answers mean are those of webhook.Publisher, by default in binary mode.
func Post(c webhook.Config) (*Action, error) {
	c.Mode = cmp.Or(c.Mode, webhook.Binary)
	publisher, err := webhook.New(c)
	return &Action{do: func(ctx context.Context, _ *jobqueue.JobContext, n Notice) error {
		_, err := publisher.Publish(ctx, []outbox.Event{{
			ID: n.ID, Topic: n.Hook, Type: "nextrun." + string(n.Event), AggregateID: cmp.Or(n.Task, n.Handler), AggregateVersion: 1,
			Payload: text.JSON(n), Created: n.At, Traceparent: n.Traceparent,
		}})
		return err
	}}, err
}

// Ping returns the action that tells a dead man's switch of a success or a failure: a service that raises an alarm unless it
// hears of a success in time. It posts the end of the output to its URL, in the convention of healthchecks.io: /fail is
// added for a failure. No error shows more of the URL than the host.
func Ping(target string) (*Action, error) {
	u, err := url.Parse(target)
	if err != nil || !web.GoodURL(target) {
		return nil, errors.New("the URL of a ping is not usable; use one such as https://hc-ping.com/UUID")
	}
	call := func(url string) (jobqueue.Handler, error) {
		return handlers.HTTP(handlers.HTTPConfig{
			URL: url, Timeout: DefaultTimeout, Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}},
		})
	}
	succeeded, err1 := call(target)
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/")+"/fail", ""
	failed, err2 := call(u.String())
	return &Action{do: func(ctx context.Context, job *jobqueue.JobContext, n Notice) error {
		told := *job
		told.Args = n.Output
		if n.Event == Failure {
			return failed(ctx, &told)
		}
		return succeeded(ctx, &told)
	}}, errors.Join(err1, err2)
}
