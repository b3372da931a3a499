// Package config reads the YAML files of the command line: the configuration file
// and files of tasks.
//
// The configuration file defines which command or HTTP call runs the jobs of a
// task, where events go, and the settings of the scheduler, the executor and the
// database. Commands come from this file only, never from the database. A file of
// tasks is what `nextrun task apply` makes the table match.
//
// Reading is strict: an unknown or repeated key, or a bad value, is an error that
// names the file and the line. All of them are reported at once. The packages that
// own the settings check their bounds, as docs/internals/decisions/libraries.md
// explains. testdata/nextrun.yaml shows every key of a configuration file,
// testdata/tasks.yaml every key of a file of tasks.
package config
