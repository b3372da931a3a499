package dashboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/days"
	"github.com/nextrun/nextrun/store"
)

// mostSelected is how many tasks one request may change.
const mostSelected = 1000

// namedTasks is how many changed tasks are named.
const namedTasks = 3

// changeTasks does what the buttons above a table of tasks say, with the selected ones.
func (s *server) changeTasks(ctx context.Context, r *http.Request, user string) (done, back string, err error) {
	ids := slices.Compact(slices.Sorted(slices.Values(r.PostForm["id"])))
	switch {
	case len(ids) == 0:
		return "", "", frame.Bad("no task is selected")
	case len(ids) > mostSelected:
		return "", "", frame.Bad("%d tasks are selected; at most %d can be changed at once", len(ids), mostSelected)
	}
	do, word, err := s.taskAction(r, user)
	if err != nil {
		return "", "", err
	}
	var changed, failed []string
	for _, id := range ids {
		if err := do(ctx, id); err != nil {
			failed = append(failed, fmt.Sprintf("%s: %v", id, err))
			continue
		}
		changed = append(changed, id)
	}
	if len(changed) == 0 {
		return "", "", frame.Bad("nothing was changed: %s", strings.Join(failed[:min(len(failed), 5)], "; "))
	}
	done = fmt.Sprintf("%s: %d tasks.", word, len(changed))
	if len(changed) <= namedTasks {
		done = word + ": " + strings.Join(changed, ", ") + "."
	}
	if len(failed) > 0 {
		done += frame.NotDone + strings.Join(failed[:min(len(failed), 5)], "; ")
	}
	return done, r.PostForm.Get("back"), nil
}

// taskAction is what to do with each selected task.
func (s *server) taskAction(r *http.Request, user string) (do func(ctx context.Context, id string) error, word string, err error) {
	switch action := r.PostForm.Get("action"); action {
	case "pause":
		until, err := untilOf(r.PostForm.Get("until"), s.now(), frame.Zone(r))
		if err != nil {
			return nil, "", err
		}
		pause := periodic.Pause{Until: until, By: show.Shorten(user, 200), Reason: show.Shorten(r.PostForm.Get("reason"), 200)}
		return func(ctx context.Context, id string) error { return s.tasks.Pause(ctx, id, pause) }, "Paused", nil
	case "resume":
		return s.resume, "Resumed", nil
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

// untilOf reads until when: a duration, a weekday or a time in the zone of the page; empty: the zero time.
func untilOf(text string, now time.Time, zone *time.Location) (time.Time, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(strings.ReplaceAll(text, " ", "")); err == nil && d > 0 {
		return now.Add(d).UTC(), nil
	}
	if days, err := strconv.Atoi(strings.TrimSuffix(text, "d")); err == nil && days > 0 && days < 10_000 && strings.HasSuffix(text, "d") {
		return now.In(zone).AddDate(0, 0, days).UTC(), nil
	}
	for days := 1; days <= 7; days++ { // a weekday is the next one of that name
		day := now.In(zone).AddDate(0, 0, days)
		if name := day.Weekday().String(); strings.EqualFold(text, name) || strings.EqualFold(text, name[:3]) {
			return time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, zone).UTC(), nil
		}
	}
	if at, err := momentOf(text, zone); err == nil {
		if !at.After(now) {
			return time.Time{}, frame.Bad("until is %q, which is over; use a time to come", show.Printable(text))
		}
		return at.UTC(), nil
	}
	return time.Time{}, frame.Bad("until is %q; use a time in the zone %s, such as 2026-12-24 08:00, a weekday or a duration, such as 3h", show.Printable(text), zone)
}

// changeJob cancels or retries a job.
func (s *server) changeJob(ctx context.Context, r *http.Request, _ string) (done, back string, err error) {
	id := r.PostForm.Get("id")
	back = cmp.Or(r.PostForm.Get("back"), "run?job="+queryEscape(id))
	switch action := r.PostForm.Get("action"); action {
	case "cancel":
		state, err := s.queue.Cancel(ctx, id)
		if err != nil {
			return "", "", err
		}
		if state == jobqueue.Cancelled {
			return "The job is cancelled.", back, nil
		}
		return "The job is asked to stop.", back, nil
	case "retry":
		err := s.queue.Retry(ctx, id)
		if errors.Is(err, store.ErrNotFound) { // it is in another queue
			err = s.tasks.Retry(ctx, id)
		}
		return "The job waits again.", back, err
	default:
		return "", "", frame.Bad("unknown action %q; use cancel or retry", show.Printable(action))
	}
}
