package jobqueue

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestDecide(t *testing.T) {
	failure := errors.New("failure")
	cfg := Config{RetryLimit: 3, RetryDelay: time.Second, RetryCap: time.Minute, MaxInterrupts: 2, Lease: time.Second}
	for name, c := range map[string]struct {
		job    Job
		o      outcome
		to     State
		result string
	}{
		"success":                   {Job{}, outcome{result: "fine"}, Success, "fine"},
		"success although asked":    {Job{}, outcome{cause: ErrCancelled}, Success, ""},
		"success at shutdown":       {Job{}, outcome{cause: ErrShutdown}, Success, ""},
		"error":                     {Job{Retries: 2}, outcome{err: failure}, Stuck, "failure"},
		"error once too often":      {Job{Retries: 3}, outcome{err: failure}, Failed, "failure"},
		"permanent error":           {Job{}, outcome{err: fmt.Errorf("x: %w", Permanent(failure))}, Failed, "x: failure"},
		"cancelled":                 {Job{}, outcome{err: context.Canceled, cause: ErrCancelled}, Cancelled, "context canceled"},
		"cancelled, permanent":      {Job{}, outcome{err: Permanent(failure), cause: ErrCancelled}, Cancelled, "failure"},
		"shutdown":                  {Job{Retries: 3}, outcome{err: failure, cause: ErrShutdown}, Waiting, ""},
		"lease lost":                {Job{Retries: 3, Interrupts: 1}, outcome{err: failure, cause: ErrLeaseLost}, Waiting, ""},
		"lease lost once too often": {Job{Interrupts: 2}, outcome{err: failure, cause: ErrLeaseLost}, Failed, "interrupted: worker w gave no sign of life for 1s, too often to try again"},
	} {
		c.job.JID, c.job.Worker = "j", "w"
		end := cfg.decide(c.job, c.o, 0.5)
		if end.JID != "j" || end.From != Running || end.To != c.to || end.Result != c.result {
			t.Errorf("%s: %+v", name, end)
		}
		if lost := errors.Is(c.o.cause, ErrLeaseLost); end.Interrupted != lost {
			t.Errorf("%s: interrupted %t", name, end.Interrupted)
		}
	}
}

func TestDelayDoublesUpToTheCap(t *testing.T) {
	cfg := Config{RetryDelay: time.Second, RetryCap: time.Minute}
	failure := errors.New("failure")
	for _, c := range []struct {
		retries int
		err     error
		random  float64
		want    time.Duration
	}{
		{0, failure, 0.5, time.Second},
		{3, failure, 0.5, 8 * time.Second},
		{3, failure, 0, 7200 * time.Millisecond},
		{3, failure, 1, 8800 * time.Millisecond},
		{9, failure, 0.5, time.Minute},
		{9, failure, 1, time.Minute},
		{1000, failure, 0.5, time.Minute},
		{0, RetryAfter(failure, 30*time.Second), 0.5, 30 * time.Second},
		{5, RetryAfter(failure, time.Second), 0.5, 32 * time.Second},
		{0, RetryAfter(failure, time.Hour), 0.5, time.Minute},
	} {
		if got := cfg.delay(c.retries, c.err, c.random); got.Round(time.Millisecond) != c.want {
			t.Errorf("delay(%d, %v, %g) = %s, want %s", c.retries, c.err, c.random, got, c.want)
		}
	}
}

func TestNextTurn(t *testing.T) {
	jobs := func(groups string) []Job {
		var list []Job
		for _, g := range groups {
			list = append(list, Job{Group: string(g)})
		}
		return list
	}
	for _, c := range []struct {
		last  string
		phase int
		got   string
		group string
		next  int
	}{
		{"", 0, "", "", 0},
		{"b", 2, "", "b", 2},
		{"", 0, "a", "a", 0},
		{"a", 0, "b", "b", 0},
		{"b", 0, "a", "a", 1},  // around once
		{"a", 0, "a", "a", 1},  // the only group
		{"a", 3, "a", "a", 0},  // the scheme begins anew
		{"", 0, "abc", "c", 0}, // a turn each
		{"b", 0, "abc", "b", 1},
		{"", 0, "aabbc", "b", 1},
		{"a", 0, "aabbc", "a", 2},
		{"", 0, "aaaaa", "a", 0},
	} {
		claim := Claim{Group: c.last, Phase: c.phase, High: 3, Low: 1}
		if group, phase := claim.Next(jobs(c.got)); group != c.group || phase != c.next {
			t.Errorf("after %q, phase %d, got %q: %q, %d; want %q, %d", c.last, c.phase, c.got, group, phase, c.group, c.next)
		}
	}
}

func TestShortenCutsBetweenCharacters(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"short", "short"}, {"abcdefghij", "abcdefghij"}, {"abcdefghijk", "abcdefg…"}, {"abcdefühijk", "abcdef…"},
	} {
		if got := shorten(c.text, 10); got != c.want {
			t.Errorf("shorten(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}
