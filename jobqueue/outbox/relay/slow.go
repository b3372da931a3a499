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

// answer is what became of a claim.
type answer struct {
	claim   outboxdb.Claim
	asked   time.Time
	took    time.Duration
	claimed outboxdb.Claimed
	err     error
}

// begin sends a claim without waiting for its answer.
func (l *loop) begin(c outboxdb.Claim, topics ...string) {
	c.Among, c.Count = topics, len(topics)
	for _, topic := range topics {
		l.claiming[topic] = true
	}
	l.open++
	go func() {
		a := answer{claim: c, asked: time.Now()}
		a.claimed, a.err = l.source.Claim(l.working, c)
		a.took = time.Since(a.asked)
		l.answers <- a
	}()
}

// await takes in answers until that of a topic's claim is there. A claim that is slow goes on
// beside the loop, unless too many do.
func (l *loop) await(topic string) error {
	timer := time.NewTimer(slowRow)
	defer timer.Stop()
	patience := timer.C
	if l.open > maxSlow {
		patience = nil
	}
	for l.claiming[topic] {
		select {
		case a := <-l.answers:
			if err := l.answered(a); err != nil {
				return err
			}
		case <-patience:
			return nil
		}
	}
	return nil
}

// judge finds the topics that are slow to claim. Of a claim of several nobody knows which one
// it was: from now on each of them is claimed alone, until that is fast.
func (l *loop) judge(a answer) {
	for _, topic := range a.claim.Among {
		switch {
		case a.took >= slowRow && l.suspects[topic] && len(a.claimed.Batches) > 0:
			l.nameSlow(topic, a.took)
		case a.took >= slowRow:
			l.suspects[topic] = true
		case len(a.claimed.Batches) > 0:
			delete(l.suspects, topic)
		}
	}
}

// take begins to claim the suspects that are ready, each alone. It returns up to room of the
// other topics, to be claimed together.
func (l *loop) take(c outboxdb.Claim, room int) []string {
	var others []string
	for _, topic := range l.ready {
		if !l.suspects[topic] {
			others = append(others, topic)
		} else if l.open < maxSlow {
			l.begin(c, topic)
		}
	}
	n := min(room, len(others))
	l.ready = l.shuffled(others[n:])
	return others[:n]
}

// nameSlow tells the user of a topic that is slow to write, once.
func (r *Relay) nameSlow(topic string, took time.Duration) {
	if _, told := r.told.LoadOrStore(topic, true); !told {
		r.notify(Notice{Kind: NoticeSlow, Topic: topic, Took: took})
	}
}

// record settles, and judges whether the topic is slow to settle. Only some of those that are
// known as slow are settled at a time.
func (w *worker) record(s outboxdb.Settlement) (next *outboxdb.Batch, asked time.Time, err error) {
	topic := s.Lease.Topic
	_, slow := w.tardy.Load(topic)
	if slow {
		w.workers.slow <- struct{}{}
		defer func() { <-w.workers.slow }()
	}
	asked = time.Now()
	next, err = w.source.Settle(w.working, s)
	switch took := time.Since(asked); {
	case err != nil:
	case took < slowRow:
		w.tardy.Delete(topic)
	case slow:
		w.nameSlow(topic, took)
	default:
		w.tardy.Store(topic, true)
	}
	return next, asked, err
}
