// Package proof looks in a database for rows that the guarantees rule out. It reads
// only, each check in one statement, so that what it sees is of one moment.
package proof
