// Package isolate keeps one bad row from holding up the others of its batch.
//
// A statement that handles many rows fails for all of them when one cannot be
// handled: a CHECK refuses it, a trigger raises, somebody else holds its lock.
// [Bisect] then finds the rows that fail alone, within a bounded time, and gets
// the others done on the way. [Aside] holds such rows, so that the next batches
// leave them out and each is tried again by itself, ever more rarely.
//
// Whether a row is to blame at all is for the caller to judge: see [Cause].
package isolate
