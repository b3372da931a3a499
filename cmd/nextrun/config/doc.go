// Package config reads the configuration file of the command line. It says what
// runs under the task names of jobs, and how many at a time; what runs is never
// taken from the database.
//
// The file is YAML and read strictly: an unknown or repeated key, or a value of
// the wrong kind, is an error that names the file and the line, and all of them
// are reported at once. testdata/nextrun.yaml shows every key.
package config
