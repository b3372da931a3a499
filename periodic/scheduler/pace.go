package scheduler

import "time"

// pace is how many tasks a batch takes. A batch takes as long as its slowest row, such as one for which a trigger of
// somebody's own works long. While batches take long they are smaller, so that fewer tasks wait for that row.
type pace struct {
	size, most int
	named      time.Time // when a slow batch was named, last
	observe    func(Event)
	delayed    *delayed
}

const (
	// slowBatch is from when on a batch is slow, leastBatch how small a batch gets.
	slowBatch  = 500 * time.Millisecond
	leastBatch = 10
	// nameAgain is how long after a slow batch another one is named.
	nameAgain = time.Minute
)

// took sets the size of the next batches, after one with so many tasks took so long.
func (p *pace) took(tasks int, took time.Duration) {
	if took <= slowBatch {
		p.size = min(2*p.size, p.most)
		return
	}
	p.size = max(p.size/4, min(leastBatch, p.most))
	p.delayed.tookLong(took)
	if now := time.Now(); now.Sub(p.named) > nameAgain {
		p.named = now
		p.observe(Event{Kind: EventSlow, Count: tasks, Took: took})
	}
}
