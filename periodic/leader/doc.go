// Package leader elects one process among those that share a database: the
// holder of a lock, which is a row of the table scheduler_lock. It is what the
// modes leader and exclusive of package scheduler use.
//
// # The lock
//
// A row names its holder, the time at which it expires and a token, which is a
// random number of each acquisition. [Store] takes, renews and deletes it in one
// statement each, by the database's clock, so that no two contenders judge the
// same row by different clocks. A lock that has no row, or an expired one, goes to
// whoever comes first; a live one stays with its holder. A pair of lock and token
// stands for one uninterrupted term of one holder, for ever.
//
// # Trust
//
// The holder renews the lock every Heartbeat. Between two renewals it cannot
// know what the row says, so it trusts a renewal for a limited time: from the
// start of the request (not from its answer, which may have been long on its
// way) until TTL less a tenth of it, by the monotonic clock, which no
// adjustment of the wall clock moves. When that time is over the term has
// ended, with or without an answer. An error never counts as a success: a
// contender that cannot tell whether it holds the lock does not hold it.
//
// # The fence
//
// Trust is not enough. A process may be stopped between its look at the clock
// and its commit, for minutes (a paused container, a suspended laptop, where
// even the monotonic clock stands still). So every transaction of a holder
// begins with [Store.Guard], which checks holder and token and keeps the row
// locked for sharing until the transaction ends. A successor's acquisition waits
// for that lock. Either the transaction commits before the successor has the
// lock, or it finds the successor in the row and commits nothing; see Martin
// Kleppmann, "How to do distributed locking" (2016), on why a lease needs a
// fence. The holder itself, too, must wait for its transactions before it can
// renew, so these have to be much shorter than the TTL ([Store.Stall] returns how
// long one can get stuck), and new ones wait for a renewal under way
// ([Term.Enter]).
//
// # Handover
//
// An [Elector] that does not hold the lock looks at the row, without writing,
// once in a Heartbeat, when the lock is about to expire, and when it is notified
// that something changed. Thus a clean stop hands the lock over at once where
// the database notifies, within a Heartbeat anywhere, and a crash within TTL
// and a Heartbeat. A holder that makes no progress gives the lock back. Whoever's
// term has ended stands back for a little more than a Heartbeat, so that another
// one comes first.
//
// # Clock steps
//
// If the database's clock is set forward the lock may expire early: the
// successor gets a new token and the fence refuses the old one. If it is set
// back, the row seems to live longer than it should: a heartbeat that lies more
// than a TTL in the future counts as expired, so that a takeover is never
// delayed by more than one more TTL.
package leader
