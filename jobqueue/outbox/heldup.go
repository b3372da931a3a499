package outbox

import (
	"slices"
	"time"
)

// holdUp leaves topics out of the next claims.
func (l *loop) holdUp(topics []HeldUp) {
	for _, h := range topics {
		first := l.held.Add(h.Topic, time.Now())
		l.ready = slices.DeleteFunc(l.ready, func(topic string) bool { return topic == h.Topic })
		if !first || !h.Locked { // another relay may have locked it for a moment
			l.nameOnce(h)
		}
	}
}

func (l *loop) nameOnce(h HeldUp) {
	if !l.named[h.Topic] {
		l.named[h.Topic] = true
		l.notify(Notice{Kind: NoticeHeldUp, Topic: h.Topic, Err: h.Err})
	}
}

// tryAlone claims a topic that was held up, beside the others, if one is due.
func (l *loop) tryAlone() {
	due := l.held.Due(time.Now())
	if l.trying != "" || len(due) == 0 {
		return
	}
	l.trying = due[0]
	c := l.claim()
	c.Held, c.Alone = nil, true
	l.begin(c, l.trying)
}

// triedAlone handles the answer to the claim of tryAlone.
func (l *loop) triedAlone(a answer) {
	topic := l.trying
	l.trying = ""
	if a.err != nil || len(a.claimed.Held) > 0 {
		l.held.Add(topic, time.Now())
		if a.err == nil {
			l.holdUpAgain(a.claimed.Held)
		}
		return
	}
	l.held.Release(topic)
	if l.named[topic] {
		delete(l.named, topic)
		l.notify(Notice{Kind: NoticeFree, Topic: topic})
	}
}

func (l *loop) holdUpAgain(topics []HeldUp) {
	for _, h := range topics {
		l.nameOnce(h)
	}
}
