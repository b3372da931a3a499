// Package outcome decides what becomes of a running job: after its handler has
// returned, and after its worker has died. Its functions are pure.
package outcome
