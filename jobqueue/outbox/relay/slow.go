package relay

import (
	"time"

	"github.com/nextrun/nextrun/internal/outboxdb"
)

const (
	// slowRow is from when on a transaction for a topic is slow: nothing else waits for it
	// any longer.
	slowRow = 500 * time.Millisecond
	// maxSlow bounds the claims of topics that are slow to write, and the settlements: each
	// occupies a connection, and a pool has ten.
	maxSlow = 3
)

// findSlow finds the topics that are slow to claim. Of a claim of several nobody knows which one
// it was: from now on each of them is claimed alone, until that is fast.
func (l *loop) findSlow(a answer) {
	for _, topic := range a.claim.Among {
		switch {
		case a.took >= slowRow && l.maybeSlow[topic] && len(a.claimed.Batches) > 0:
			l.nameSlow(topic, a.took)
		case a.took >= slowRow:
			l.maybeSlow[topic] = true
		case len(a.claimed.Batches) > 0:
			delete(l.maybeSlow, topic)
		}
	}
}

// takeReady claims the ready topics that may be slow, each alone. It returns up to room of the
// others, to be claimed together.
func (l *loop) takeReady(c outboxdb.Claim, room int) []string {
	var others []string
	for _, topic := range l.ready {
		if !l.maybeSlow[topic] {
			others = append(others, topic)
		} else if l.open < maxSlow {
			l.sendAsync(c, topic)
		}
	}
	n := min(room, len(others))
	l.ready = l.shuffled(others[n:])
	return others[:n]
}

// nameSlow tells the user of a topic that is slow to write, once.
func (r *Relay) nameSlow(topic string, took time.Duration) {
	if _, told := r.slowNamed.LoadOrStore(topic, true); !told {
		r.notify(Notice{Kind: NoticeSlow, Topic: topic, Took: took})
	}
}
