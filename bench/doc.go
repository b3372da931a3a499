// Command bench measures nextrun beside the limit that a database sets and beside other schedulers and queues, on one
// PostgreSQL and on SQLite, in one run. It prints one table, and writes the raw figures as JSON and the table as Markdown.
//
//	NEXTRUN_TEST_POSTGRES=postgres://... go run . -nextrun ../bin/nextrun [-run REGEXP] [-rounds N]
//	NEXTRUN_DB=postgres://... go run . own [--json]
//
// The second form measures nextrun on a database of the user's: package own.
//
// Those that are compared take turns: each round measures all of them once, each in a database of its own, so that a machine
// that is busy for a while hits all of them. What counts are the ratios; the figures depend on the machine.
//
// It is a module of its own, so that the product does not depend on those it is compared with.
package main
