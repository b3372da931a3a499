// Package floor does with plain SQL what the scheduler and the executor do, and no more: it checks nothing, records
// nothing and marks nothing. Measurements are compared with it.
package floor
