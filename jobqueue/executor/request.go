package executor

import (
	"time"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/exchange"
)

// maxLines and maxBytes bound the lines of one attempt in a transaction, maxSyncLines and maxSyncBytes those of several.
const (
	maxLines     = 2000
	maxBytes     = 2 << 20
	maxSyncLines = 4 * maxLines
	maxSyncBytes = 4 * maxBytes
)

// item is the part of a request about one job: a report, a rescue, or a claim of that job.
type item struct {
	jid     string
	attempt *attempt             // of a report
	rescue  *exchange.Transition // of a rescue

	lines, percent int // of a report: how many lines the request writes, and which progress or -1
}

// reportOf writes what an attempt has to say: log, progress, end.
func reportOf(a *attempt) item { return item{jid: a.job.JID, attempt: a} }

// rescueBy moves a job that is not in flight here.
func rescueBy(t exchange.Transition) item { return item{jid: t.JID, rescue: &t} }

// claimOf claims a job alone, since its claim with others failed.
func claimOf(jid string) item { return item{jid: jid} }

func (it item) doing() doing {
	switch {
	case it.rescue != nil:
		return rescuing
	case it.attempt != nil:
		return reporting
	}
	return claiming
}

// job is what is known of the item's job.
func (it item) job() jobqueue.Job {
	if it.attempt != nil {
		return it.attempt.job
	}
	return jobqueue.Job{JID: it.jid}
}

// fitting is how many of the items fit into one transaction.
func fitting(items []item) int {
	lines, bytes := 0, 0
	for i, it := range items {
		for _, line := range it.attempt.next() {
			lines++
			bytes += len(line.Message)
		}
		if i > 0 && (lines > maxSyncLines || bytes > maxSyncBytes) {
			return i
		}
	}
	return len(items)
}

// requestFor says what is to be done for the items, and notes in them what it writes.
func requestFor(worker string, items []item, now time.Time) exchange.Request {
	q := exchange.Request{Worker: worker}
	for i := range items {
		it := &items[i]
		switch a := it.attempt; {
		case it.rescue != nil:
			q.Transitions = append(q.Transitions, *it.rescue)
		case a == nil:
			q.Claim.Only = append(q.Claim.Only, it.jid)
		default:
			lines := a.next()
			it.lines, it.percent = len(lines), -1
			for _, line := range lines {
				line.Age = now.Sub(line.at)
				q.Lines = append(q.Lines, line.Line)
			}
			if a.phase == returned && len(lines) == len(a.lines) {
				q.Transitions = append(q.Transitions, a.end)
			} else if a.percent >= 0 {
				it.percent = a.percent
				q.Progress = append(q.Progress, exchange.Progress{JID: it.jid, Percent: a.percent})
			}
		}
	}
	return q
}
