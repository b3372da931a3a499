package periodic

// Cause is why a tick was decided as it was, as a code: what counts, filters and alerts read it, never the words of
// [Tick.Reason]. A tick that was submitted at its time has none.
type Cause string

// The causes.
const (
	CauseOverlap    Cause = "overlap"    // skipped: a job of the task had not ended
	CauseWaited     Cause = "waited"     // skipped: it waited for a job, and a later tick took its place
	CauseSuperseded Cause = "superseded" // skipped: a later tick replaced its job
	CausePaused     Cause = "paused"     // skipped: the task was paused
	CauseCalendar   Cause = "calendar"   // skipped: a calendar leaves it out
	CausePerson     Cause = "person"     // skipped: somebody left it out
	CauseClosed     Cause = "closed"     // skipped: the task was disabled, or outside its starts and ends
	CauseRefused    Cause = "refused"    // skipped: its queue refused the job for good
	CauseDeadline   Cause = "deadline"   // late: its deadline had passed
	CauseNewest     Cause = "newest"     // missed: a newer tick is decided in its place
	CauseGrace      Cause = "grace"      // missed: the newest tick was older than the grace
	CauseLimit      Cause = "limit"      // missed: catchup_limit leaves it out
	CauseByHand     Cause = "by_hand"    // submitted: somebody ran the task, or set nextrun
	CauseBackfill   Cause = "backfill"   // submitted: somebody made up for it
	CauseHook       Cause = "hook"       // submitted: a hook of another task did it
)

// Hand says how somebody has asked for a tick; empty: nobody has.
func (c Cause) Hand() string {
	return map[Cause]string{CauseByHand: byHand, CauseBackfill: backfilled}[c]
}

// The reasons of ticks that somebody asked for. The first may be a part of one.
const (
	byHand     = "run by hand"
	backfilled = "backfilled"
)

// because is why a tick is decided so: the code, and the words for people.
type because struct {
	Cause
	words string
}
