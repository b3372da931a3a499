// Package clitest runs the command line in tests, as a person at a shell would:
// with arguments, variables and a database of each kind.
package clitest
