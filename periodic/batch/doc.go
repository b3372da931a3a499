// Package batch takes tasks that are due, or soon will be, to recorded ticks and submitted jobs: it reads them with what
// their decisions need, has each decide, and writes the plans at their time, over rows that are as they were read. It
// declares what that needs of a database ([Tx]).
//
// A [Batch] is values. A [Processor] has no state; any goroutine may call it. Package scheduler says when to read and to
// write, and what happens if a batch fails.
package batch
