// Package config reads the files of the command line: the configuration, which
// says what runs under the task names of jobs, and how many at a time (what runs
// is never taken from the database), and files of tasks, which `nextrun task
// apply` makes a table match.
//
// Files are YAML and read strictly: an unknown or repeated key, or a value of
// the wrong kind, is an error that names the file and the line, and all of them
// are reported at once. testdata/nextrun.yaml shows every key of a configuration,
// testdata/tasks.yaml every key of a file of tasks.
package config
