package relay

import (
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/outboxdb"
)

// holdUp leaves topics out of the next claims.
func (l *loop) holdUp(topics []outboxdb.HeldUp) {
	for _, h := range topics {
		first := l.held.Add(h.Topic, struct{}{}, time.Now())
		l.ready = slices.DeleteFunc(l.ready, func(topic string) bool { return topic == h.Topic })
		if !first || !h.Locked { // another relay may have locked it for a moment
			l.nameOnce(h)
		}
	}
}

func (l *loop) nameOnce(h outboxdb.HeldUp) {
	if l.held.Name(h.Topic) {
		l.notify(Notice{Kind: NoticeHeldUp, Topic: h.Topic, Err: h.Err})
	}
}

// tryAlone claims a topic that was held up, beside the others, if one is due.
func (l *loop) tryAlone() {
	due := l.held.Due(time.Now())
	if l.tryingAlone != "" || len(due) == 0 {
		return
	}
	l.tryingAlone = due[0]
	c := l.composeClaim()
	c.Held, c.Alone = nil, true
	l.sendAsync(c, l.tryingAlone)
}

// triedAlone handles the answer to the claim of tryAlone.
func (l *loop) triedAlone(a answer) {
	topic := l.tryingAlone
	l.tryingAlone = ""
	if a.err != nil || len(a.claimed.Held) > 0 {
		l.held.Add(topic, struct{}{}, time.Now())
		for _, h := range a.claimed.Held {
			l.nameOnce(h)
		}
		return
	}
	if _, named := l.held.Release(topic); named {
		l.notify(Notice{Kind: NoticeFree, Topic: topic})
	}
}
