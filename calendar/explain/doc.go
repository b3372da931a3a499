// Package explain tells people about timers: [Schedule] says in English when one elapses, [Lint]
// finds what its author may not expect, such as a local time that a change of the clock leaves out.
package explain
