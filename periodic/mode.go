package periodic

import "time"

// Mode says which of several schedulers on one database schedule. A tick has
// one job at most in each of them; the modes with a lock save work.
type Mode string

// The modes.
const (
	// ModeShared: every scheduler schedules; marks keep them apart. The default.
	ModeShared Mode = "shared"
	// ModeLeader: the holder of the lock schedules, the others stand by and take
	// over.
	ModeLeader Mode = "leader"
	// ModeExclusive: as ModeLeader, but a scheduler that finds the lock held
	// refuses to start, and one whose lock was taken by another ends.
	ModeExclusive Mode = "exclusive"
)

// Valid reports whether m is one of the modes.
func (m Mode) Valid() bool { return m == ModeShared || m == ModeLeader || m == ModeExclusive }

// LockConfig is the lock of the modes leader and exclusive; see
// [leader.Config] for the bounds.
type LockConfig struct {
	// Name of the lock. Schedulers with locks of different names are independent of
	// each other. Empty: leader.DefaultLock.
	Name string
	// TTL is the longest time after a crash of the holder in which no scheduler runs.
	// 0: leader.DefaultTTL.
	TTL time.Duration
	// Heartbeat is the time between renewals, at most a third of TTL.
	// 0: leader.DefaultHeartbeat, or a third of TTL if that is less.
	Heartbeat time.Duration
}
