// Package days says which ticks of a timer take place on days that are different: holidays, business
// hours, times of maintenance.
//
// It is pure. The scheduler, previews and audits ask the same [Ticks] and so agree.
package days
