package scheduler

import "time"

// pace is how many tasks a batch takes. A batch takes as long as its slowest row, such as one for which a trigger of
// somebody's own works long. For a time after a slow batch the others are smaller, so that fewer tasks wait for that row.
type pace struct {
	size, most int
	slow       time.Time // when the last slow batch ended
	named      time.Time // when one was named, last
	observe    func(Event)
}

const (
	// slowBatch is from when on a batch is slow, leastBatch how small a batch gets.
	slowBatch  = 500 * time.Millisecond
	leastBatch = 10
	// smallFor is how long batches stay small after a slow one.
	smallFor = 10 * time.Second
	// nameAgain is how long after a slow batch another one is named.
	nameAgain = time.Minute
)

// limit is how many tasks the next batch takes at most.
func (p *pace) limit() int {
	if time.Since(p.slow) > smallFor {
		p.size = p.most
	}
	return p.size
}

// took notes how long a batch of so many tasks took.
func (p *pace) took(tasks int, took time.Duration) {
	if took <= slowBatch {
		return
	}
	p.slow, p.size = time.Now(), max(p.size/4, min(leastBatch, p.most))
	if p.slow.Sub(p.named) > nameAgain {
		p.named = p.slow
		p.observe(Event{Kind: EventSlow, Count: tasks, Took: took})
	}
}
