// Package measure measures what nextrun does on a database, beside plain SQL that does the least for the same. [Run]
// measures in a schema, or on SQLite in a file, of its own, which it removes; the other functions measure in a database
// that is given to them, and refuse one that holds tasks or jobs of somebody.
package measure
