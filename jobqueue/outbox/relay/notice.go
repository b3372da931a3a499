package relay

import (
	"time"

	"github.com/nextrun/nextrun/jobqueue/outbox"
)

// NoticeKind says what a relay did.
type NoticeKind string

// The kinds of notices.
const (
	NoticePublished NoticeKind = "published" // Count events of Topic were accepted
	NoticeFailed    NoticeKind = "failed"    // Event was not accepted because of Err; it is tried again after Delay
	NoticeDead      NoticeKind = "dead"      // Event was refused too often because of Err, and is set aside
	NoticeLost      NoticeKind = "lost"      // the lease of Topic was lost; Count events may be published twice
	NoticeHeldUp    NoticeKind = "held up"   // Topic cannot go on because of Err; Event is to blame, if given; it is tried again
	NoticeFree      NoticeKind = "free"      // Topic, which was held up, goes on
	NoticeTrouble   NoticeKind = "trouble"   // Doing failed with Err; it is tried again
)

// Notice is something that a relay did. Fields that the kind does
// not name are zero.
type Notice struct {
	Kind     NoticeKind
	Topic    string
	Event    outbox.Event
	Attempts int // to hand Event over, this one included
	Count    int
	Took     time.Duration // since the batch was leased
	Delay    time.Duration
	Doing    string
	Err      error
}
