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
	NoticeHeldUp    NoticeKind = "held up"   // Topic cannot go on because of Err; Event is to blame, if given; it is tried ever more rarely
	NoticeFree      NoticeKind = "free"      // Topic, which was held up, goes on
	NoticeSlow      NoticeKind = "slow"      // the database takes long to write Topic: it took Took
	NoticePruned    NoticeKind = "pruned"    // Count messages and Events events were removed
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
	Events   int
	Took     time.Duration // published: since the batch was claimed; slow: to write the topic
	Delay    time.Duration
	Doing    string
	Err      error
}
