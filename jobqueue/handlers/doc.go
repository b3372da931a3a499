// Package handlers has handlers for jobs that are not Go functions: [Command]
// runs a program, [HTTP] makes a call.
//
//	command.go        a program, from its start to its verdict
//	group*.go         ends it with all that it has started
//	death*.go         ends it with this process
//	output.go         writes its output to the job log, up to a limit
//	http.go           a call, and what its status means for the job
package handlers
