// Package batch takes due tasks to recorded ticks and submitted jobs: it claims a
// batch, decides what becomes of its ticks, and submits it.
//
// A [Batch] is values. A [Committer] has no state; any goroutine may call it. What
// happens if a batch fails is the subject of package search.
package batch
