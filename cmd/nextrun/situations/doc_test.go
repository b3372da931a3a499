// Package situations_test is a table of what people meet: each line sets a situation up in
// a real database, of each kind on which it exists, and names what `nextrun why` must say
// of it, in words and as codes, and what it must not say.
//
// To add a line, append a situation to a table such as ofJobs, or to one of your own with
// a test like TestJobs. world_test.go has what sets it up: executors, killed ones, locked rows.
package situations_test
