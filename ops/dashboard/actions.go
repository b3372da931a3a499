package dashboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/ops/internal/when"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/days"
	"github.com/nextrun/nextrun/store"
)

// mostSelected is how many tasks or jobs one request may change.
const mostSelected = 1000

// namedTasks is how many changed tasks are named.
const namedTasks = 3

// selected are the ids of the things that a form is about.
func selected(r *http.Request, thing string) ([]string, error) {
	ids := slices.Compact(slices.Sorted(slices.Values(r.PostForm["id"])))
	switch {
	case len(ids) == 0:
		return nil, frame.Bad("no %s is selected", thing)
	case len(ids) > mostSelected:
		return nil, frame.Bad("%d %ss are selected; at most %d can be changed at once", len(ids), thing, mostSelected)
	}
	return ids, nil
}

// changeTasks does what the buttons above a table of tasks say, with the selected ones.
func (s *server) changeTasks(ctx context.Context, r *http.Request, user string) (done, back string, err error) {
	ids, err := selected(r, "task")
	if err != nil {
		return "", "", err
	}
	do, word, err := s.taskAction(r, user)
	if err != nil {
		return "", "", err
	}
	done, err = changeEach(ctx, ids, word, "task", do)
	return done, r.PostForm.Get("back"), err
}

// changeEach does something with each of several things, and says with which it did.
func changeEach(ctx context.Context, ids []string, word, thing string, do func(ctx context.Context, id string) error) (done string, err error) {
	var changed, failed []string
	for _, id := range ids {
		if err := do(ctx, id); err != nil {
			failed = append(failed, fmt.Sprintf("%s: %v", id, err))
			continue
		}
		changed = append(changed, id)
	}
	if len(changed) == 0 {
		return "", frame.Bad("nothing was changed: %s", strings.Join(failed[:min(len(failed), 5)], "; "))
	}
	done = word + ": " + count(len(changed), thing) + "."
	if len(changed) <= namedTasks && thing == "task" {
		done = word + ": " + strings.Join(changed, ", ") + "."
	}
	if len(failed) > 0 {
		done += frame.NotDone + strings.Join(failed[:min(len(failed), 5)], "; ")
	}
	return done, nil
}

// taskAction is what to do with each selected task.
func (s *server) taskAction(r *http.Request, user string) (do func(ctx context.Context, id string) error, word string, err error) {
	switch action := r.PostForm.Get("action"); action {
	case "pause":
		until, err := untilOf(r.PostForm.Get("until"), time.Now(), frame.Zone(r))
		if err != nil {
			return nil, "", err
		}
		pause := periodic.Pause{Until: until, By: show.Shorten(user, 200), Reason: show.Shorten(r.PostForm.Get("reason"), 200)}
		return func(ctx context.Context, id string) error { return s.tasks.Pause(ctx, id, pause) }, "Paused", nil
	case "resume":
		return func(ctx context.Context, id string) error {
			_, err := s.tasks.Resume(ctx, id)
			return err
		}, "Resumed", nil
	case "run":
		return s.tasks.RunNow, "Submitted", nil
	case "skip", "unskip":
		return s.skip(r, user)
	default:
		return nil, "", frame.Bad("unknown action %q; use pause, resume, run, skip or unskip", show.Printable(action))
	}
}

// skip skips a tick of each selected task, the next run without a time, or undoes that.
func (s *server) skip(r *http.Request, user string) (do func(ctx context.Context, id string) error, word string, err error) {
	var due time.Time
	if tick := r.PostForm.Get("tick"); tick != "" {
		if due, err = time.Parse(time.RFC3339, tick); err != nil {
			return nil, "", frame.Bad("tick is %q; use a time such as 2026-12-24T08:00:00Z", show.Printable(tick))
		}
	}
	if r.PostForm.Get("action") == "skip" {
		reason := show.Shorten(days.Note(show.Shorten(user, 120), r.PostForm.Get("reason")), 254)
		return func(ctx context.Context, id string) error {
			_, err := s.tasks.Skip(ctx, id, due, reason)
			return err
		}, "Skipped a run to come", nil
	}
	return func(ctx context.Context, id string) error {
		_, err := s.tasks.Unskip(ctx, id, due)
		return err
	}, "Undone", nil
}

// untilOf reads until when, in the zone of the page; empty: the zero time.
func untilOf(text string, now time.Time, zone *time.Location) (time.Time, error) {
	if text = strings.TrimSpace(text); text == "" {
		return time.Time{}, nil
	}
	at, err := when.Parse(text, when.Clock{Now: now, Zone: zone})
	switch {
	case err != nil:
		return at, frame.Bad("until is %q: %v", show.Printable(text), err)
	case !at.After(now):
		return at, frame.Bad("until is %q, which is over; use a time to come", show.Printable(text))
	}
	return at, nil
}

// changeJobs cancels or retries jobs.
func (s *server) changeJobs(ctx context.Context, r *http.Request, _ string) (done, back string, err error) {
	ids, err := selected(r, "job")
	if err != nil {
		return "", "", err
	}
	switch action := r.PostForm.Get("action"); action {
	case "retry":
		done, err = changeEach(ctx, ids, "Waits again", "job", s.retry)
	case "cancel":
		done, err = changeEach(ctx, ids, "Cancelled, or asked to stop", "job", func(ctx context.Context, id string) error {
			_, err := s.queue.Cancel(ctx, id)
			return err
		})
	default:
		err = frame.Bad("unknown action %q; use cancel or retry", show.Printable(action))
	}
	return done, cmp.Or(r.PostForm.Get("back"), "run?job="+url.QueryEscape(ids[0])), err
}

// retry puts a job back, in nextrun's own queue or in another one.
func (s *server) retry(ctx context.Context, id string) error {
	err := s.queue.Retry(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		err = s.tasks.Retry(ctx, id)
	}
	return err
}
