// Package finish says by when the jobs of ticks have to have succeeded, and whether they have.
//
// It is pure. The scheduler gathers the [Facts], and records and tells the [Verdict].
package finish
