package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/ops/dashboard/internal/frame"
	"github.com/nextrun/nextrun/ops/dashboard/internal/show"
)

// mostEvents is how many events that were given up are listed, and how many that are pending.
const mostEvents = 50

// eventList are the topics and events of the page of the system.
type eventList struct {
	Topic  string     `json:"topic,omitempty"`
	Topics []topicRow `json:"topics"`
	Events []eventRow `json:"events"` // that are not published, those that were given up first
}

// topicRow is a topic with unpublished events.
type topicRow struct {
	Topic   string    `json:"topic"`
	Pending int       `json:"pending"`
	Oldest  time.Time `json:"oldest,omitzero"`
	Dead    int       `json:"dead"`
	Problem string    `json:"problem,omitempty"`
	Holder  string    `json:"holder,omitempty"`
	Retry   time.Time `json:"retry,omitzero"` // when the oldest is tried again
	Alone   bool      `json:"no_relay"`
}

type eventRow struct {
	ID        string    `json:"id"`
	Topic     string    `json:"topic"`
	Type      string    `json:"type"`
	Aggregate string    `json:"aggregate,omitempty"`
	Task      string    `json:"task,omitempty"` // that it is about
	Status    string    `json:"status"`
	Created   time.Time `json:"created"`
	Attempts  int       `json:"attempts"`
	Problem   string    `json:"problem,omitempty"`
}

func (s *server) events(ctx context.Context, r *http.Request) (*eventList, error) {
	d := &eventList{Topic: r.URL.Query().Get("topic"), Topics: []topicRow{}, Events: []eventRow{}}
	lag, err := s.db.Outbox().Lag(ctx)
	if err != nil {
		return nil, err
	}
	for _, l := range lag {
		problem := show.Shorten(show.Printable(s.mask.Line(l.Problem)), 300)
		if l.Unattended() {
			problem = "no relay has this topic now"
		}
		if late := time.Since(l.Retry); !l.Retry.IsZero() && late > time.Minute {
			problem, l.Retry = problem+"; no relay has tried it again for "+text.Text(late.Truncate(time.Minute))+": start nextrun serve or nextrun relay", time.Time{}
		}
		d.Topics = append(d.Topics, topicRow{l.Topic, l.Pending, l.Oldest, l.Dead, problem, l.Holder, l.Retry, l.Unattended()})
	}
	for _, status := range []outbox.Status{outbox.Dead, outbox.Pending} {
		list, err := s.db.Outbox().List(ctx, outbox.Filter{Topic: d.Topic, Status: status, Limit: mostEvents})
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			row := eventRow{ID: e.ID, Topic: e.Topic, Type: e.Type, Aggregate: e.AggregateID, Status: string(e.Status), Created: e.Created, Attempts: e.Attempts,
				Problem: show.Shorten(show.Printable(s.mask.Line(e.Problem)), 300)}
			if !e.Due.IsZero() {
				row.Task = e.AggregateID
			}
			d.Events = append(d.Events, row)
		}
	}
	return d, nil
}

func (s *server) resendEvents(ctx context.Context, r *http.Request, _ string) (done, back string, err error) {
	topic := r.PostForm.Get("topic")
	var ids []string
	switch action := r.PostForm.Get("action"); action {
	case "resend":
		ids, err = s.db.Outbox().Resend(ctx, r.PostForm["id"])
	case "resend-dead":
		ids, err = s.db.Outbox().ResendDead(ctx, topic)
	default:
		return "", "", frame.Bad("unknown action %q; use resend or resend-dead", show.Printable(action))
	}
	return fmt.Sprintf("Events that are sent again: %d.", len(ids)), "system?" + url.Values{"topic": {topic}}.Encode() + "#events", err
}
