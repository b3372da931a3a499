// Command chaos runs several nextrun processes on one database, lets faults happen to them, to the database and to the network
// between them, and then accounts for every tick with its own arithmetic. It needs Linux; run it by: make chaos.
package main
