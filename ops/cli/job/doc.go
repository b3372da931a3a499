// Package job holds the commands that show jobs and change them, one per file;
// job.go has the group and the JSON form.
package job
