package relay

import (
	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/internal/service"
)

// logNotice writes a notice as a log line: constant messages, data in fields,
// never a payload.
func logNotice(log logrus.FieldLogger, n Notice) {
	if n.Event.ID != "" {
		log = log.WithFields(logrus.Fields{"topic": n.Event.Topic, "event": n.Event.ID, "attempts": n.Attempts})
	}
	switch n.Kind {
	case NoticePublished:
		log.WithFields(logrus.Fields{"topic": n.Topic, "events": n.Count, "took": n.Took}).Debug("events published")
	case NoticeFailed:
		log.WithError(n.Err).WithField("delay", n.Delay).Warn("event not accepted, retrying")
	case NoticeDead:
		log.WithError(n.Err).Error("event refused, set aside as dead")
	case NoticeLost:
		log.WithFields(logrus.Fields{"topic": n.Topic, "events": n.Count}).
			Warn("lease of the topic lost, its events may be published twice")
	case NoticeHeldUp:
		log.WithError(n.Err).WithField("topic", n.Topic).Error("topic held up, other topics go on")
	case NoticeFree:
		log.WithField("topic", n.Topic).Info("topic no longer held up")
	case NoticeTrouble:
		if service.LogOutage(log, n.Err) {
			return
		}
		log.WithError(n.Err).WithField("while", n.Doing).Error("events: database work failed, retrying")
	}
}
