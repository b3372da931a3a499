package relay

import (
	"log/slog"
	"time"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// NoticeKind says what a relay did.
type NoticeKind string

// The kinds of notices.
const (
	NoticePublished NoticeKind = "published" // Count events of Topic were accepted
	NoticeFailed    NoticeKind = "failed"    // Event was not accepted because of Err; it is tried again after Delay
	NoticeDead      NoticeKind = "dead"      // Event was refused too often because of Err, and is set aside
	NoticeHeldUp    NoticeKind = "held up"   // Topic cannot go on because of Err; it is tried again
	NoticeTrouble   NoticeKind = "trouble"   // Doing failed with Err; it is tried again
)

// Notice is something that a relay did. Fields that the kind does
// not name are zero.
type Notice struct {
	Kind     NoticeKind
	Topic    string
	Event    outbox.Event
	Attempts int // to hand Event over, this one included
	Count    int
	Took     time.Duration // since the batch was leased
	Delay    time.Duration
	Doing    string
	Err      error
}

func (r *Relay) notify(n Notice) {
	logNotice(r.cfg.Logger, n)
	if r.cfg.Observe != nil {
		r.cfg.Observe(n)
	}
}

func (r *Relay) fail(doing string, err error) {
	r.notify(Notice{Kind: NoticeTrouble, Doing: doing, Err: err})
}

// logNotice writes a notice as a log line: constant messages, data in fields,
// never a payload.
func logNotice(log *slog.Logger, n Notice) {
	if n.Kind == NoticeTrouble && service.LogOutage(log, n.Err) {
		return
	}
	if n.Topic != "" {
		log = log.With("topic", n.Topic)
	}
	if n.Event.ID != "" {
		log = log.With("event", n.Event.ID, "attempts", n.Attempts)
	}
	switch n.Kind {
	case NoticePublished:
		log.Debug("events published", "events", n.Count, "took", n.Took)
	case NoticeFailed:
		log.Warn("event not accepted, retrying", "error", n.Err, "delay", n.Delay)
	case NoticeDead:
		log.Error("event refused, set aside as dead", "error", n.Err)
	case NoticeHeldUp:
		log.Error("topic held up, other topics go on", "error", n.Err)
	case NoticeTrouble:
		log.Error("events: database work failed, retrying", "error", n.Err, "while", n.Doing)
	}
}
