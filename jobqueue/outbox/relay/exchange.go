package relay

import (
	"maps"
	"slices"
	"time"

	"github.com/nextrun/nextrun/internal/outboxdb"
)

// composeClaim returns a claim that lists the topics that are ready.
func (l *loop) composeClaim() outboxdb.Claim {
	except := slices.AppendSeq(slices.Collect(maps.Keys(l.active)), maps.Keys(l.claiming))
	return outboxdb.Claim{Terms: l.terms(), Holder: l.holder, Topics: l.cfg.Topics, Except: except, Held: l.held.Keys()}
}

// answer is what became of a claim.
type answer struct {
	claim   outboxdb.Claim
	asked   time.Time
	took    time.Duration
	claimed outboxdb.Claimed
	err     error
}

// sendAsync sends a claim of topics, and does not wait for its answer.
func (l *loop) sendAsync(c outboxdb.Claim, topics ...string) {
	c.Among, c.Count = topics, len(topics)
	for _, topic := range topics {
		l.claiming[topic] = true
	}
	l.open++
	go func() {
		a := answer{claim: c, asked: time.Now()}
		a.claimed, a.err = l.source.Claim(l.hard, c)
		a.took = time.Since(a.asked)
		l.answers <- a
	}()
}

// awaitAnswer handles answers until that of a topic's claim is there. A claim that is slow goes on
// beside the loop, unless too many do.
func (l *loop) awaitAnswer(topic string) error {
	timer := time.NewTimer(slowRow)
	defer timer.Stop()
	patience := timer.C
	if l.open > maxSlow {
		patience = nil
	}
	for l.claiming[topic] {
		select {
		case a := <-l.answers:
			if err := l.handleAnswer(a); err != nil {
				return err
			}
		case <-patience:
			return nil
		}
	}
	return nil
}

// handleAnswer has workers publish what a claim has got, and notes what it could not get.
func (l *loop) handleAnswer(a answer) error {
	l.open--
	for _, topic := range a.claim.Among {
		delete(l.claiming, topic)
	}
	l.findSlow(a)
	l.startWorkers(a.claimed.Batches, a.asked)
	if a.claimed.Next >= 0 {
		time.AfterFunc(a.claimed.Next, l.Wake)
	}
	topic := a.claim.Among[0]
	switch {
	case a.claim.Alone:
		l.triedAlone(a)
	case a.err == nil:
		l.holdUp(a.claimed.Held)
	case l.maybeSlow[topic]: // the loop has gone on
		l.fail("claim topics", a.err)
		if len(a.claim.Among) == 1 {
			l.held.Add(topic, struct{}{}, time.Now())
		}
	default:
		return a.err
	}
	return nil
}
