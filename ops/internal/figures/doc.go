// Package figures reads what monitoring shows: how many tasks there are in which
// state, how late the most overdue one is, how many jobs wait, and for each task its
// newest ticks with what became of them. It only reads, in one short transaction, and
// a figure costs the same whatever the size of the tables.
package figures
