// Package transfer has the commands `nextrun import` and `nextrun export`, which take
// over the schedules of other programs and give them back. The formats are the kinds
// of package schedules.
//
//	import.go   the commands and their flags
//	run.go      reads, compares with the table, writes
//	report.go   what became of each line, for people and as JSON
//	export.go   the other way
//	kinds.go    the programs
package transfer
