// Package measure measures what nextrun does on a database of its own, beside plain SQL that does the least for the same.
package measure
