// Package search finds the tasks of a failed batch that fail alone, and the sinks
// that cannot be used, and commits the rest.
//
// It may wait for locks, so it works beside the scheduler's loop. A [Searcher] has
// no state; it returns [Findings].
package search
