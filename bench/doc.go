// Command bench measures nextrun beside the limit that a database sets and beside River, on one PostgreSQL and on SQLite, in
// one run of 20 minutes. It prints one table: each figure, what it is compared with, and the aim.
//
//	NEXTRUN_TEST_POSTGRES=postgres://... go run . -nextrun ../bin/nextrun [-run REGEXP] [-rounds N]
//
// Those that are compared take turns: each round measures all of them once, each in a database of its own, so that a machine
// that is busy for a while hits all of them. What counts are the ratios; the figures depend on the machine.
//
// It is a module of its own, so that the product does not depend on those it is compared with.
package main
