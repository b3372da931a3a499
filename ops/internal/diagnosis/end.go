package diagnosis

import (
	"fmt"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/sink"
)

// ofFailure says what went wrong last.
func ofFailure(f *Facts) []Finding {
	j := f.Failed
	if j == nil {
		return ofEnd(f)
	}
	code, what := runFailed, fmt.Sprintf("Its last run failed %s", when(j.Finished, f.Now))
	if !j.State.Final() {
		code, what = attemptFailed, "An attempt of its present run failed"
	}
	if j.Result != "" {
		what += ": " + text.FirstLine(j.Result)
	}
	do := "the whole output: nextrun job log " + j.JID
	if j.State == jobqueue.Failed {
		do += "; to run the job again: nextrun job retry " + j.JID
	}
	return []Finding{{code, f.inARow(what), do}}
}

// ofEnd says what went wrong last in a queue that is not nextrun's own.
func ofEnd(f *Facts) (list []Finding) {
	if f.attempt != nil && f.attempt.State == "" && f.attempt.Error != "" {
		list = append(list, Finding{attemptFailed, "An attempt of its present run failed: " + sentence(f.attempt.Error), ""})
	}
	k := f.end()
	switch k.Ended {
	case sink.EndFailed:
		what := "Its last run failed " + when(k.Finished, f.Now)
		if k.Attempts > 1 {
			what += fmt.Sprintf(", after %d attempts", k.Attempts)
		}
		if k.Error != "" {
			what += ": " + k.Error
		}
		do := "to run the task again: nextrun task run " + f.Task.ID
		if f.retries {
			do = "to put the job back: nextrun job retry " + k.JID + "; to run the task anew: nextrun task run " + f.Task.ID
		}
		list = append(list, Finding{runFailed, f.inARow(what), do})
	case sink.EndUnknown:
		list = append(list, Finding{runUnknown, fmt.Sprintf("How its last run ended is not known: the queue %q does not have the job any more.", f.Task.Sink),
			fmt.Sprintf("if its workers delete jobs that succeed, set `gone: success` of queues.%s", f.Task.Sink)})
	}
	return list
}

// end is the latest tick whose job in another queue has ended, as far as ticks were read.
func (f *Facts) end() periodic.Tick {
	for _, k := range f.Ticks {
		if k.Ended != "" {
			return k
		}
	}
	if f.Last != nil {
		return *f.Last
	}
	return periodic.Tick{}
}

// ofEvent says whether the event of the last tick was delivered.
func ofEvent(f *Facts) []Finding {
	r := f.Event
	if r == nil {
		return nil
	}
	switch {
	case !r.Dead.IsZero():
		return []Finding{{eventDead, "Its last event was refused too often and set aside: " + sentence(r.Problem), "nextrun event resend " + r.ID}}
	case r.Published.IsZero() && r.Problem != "":
		return []Finding{{eventRefused, "Its last event is not delivered yet: " + sentence(r.Problem), "nextrun event list --topic " + r.Topic}}
	case r.Status == outbox.Pending && f.topic.Problem != "":
		return []Finding{{eventRefused, "Its last event waits behind an older one of its topic, which is not delivered yet: " + sentence(f.topic.Problem), "nextrun event list --topic " + r.Topic}}
	case r.Status == outbox.Pending && f.topic.Unattended():
		which := "The oldest event of its topic"
		if f.topic.Pending == 1 {
			which = "Its last event"
		}
		return []Finding{{eventNoRelay, which + " has been waiting for a relay for " + text.Text(f.topic.Age) + ".",
			fmt.Sprintf("is a relay running that has the topic %q? start one: nextrun relay --config FILE", r.Topic)}}
	}
	return nil
}
