package task

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/nextrun/nextrun/periodic"
)

// importSubmitter is the submitter of the tasks of crontabs. Their subject says
// which crontab: what comes from another one is never changed.
const importSubmitter = "crontab"

// standardInput stands for a file's name.
const standardInput = "standard input"

// maxPrefix is the greatest length of --prefix; with a name it fits into an id.
const maxPrefix = 50

var oddPrefix = regexp.MustCompile(`[^A-Za-z0-9._-]`)

// origin is the subject of the tasks of a crontab: the host and the file.
func origin(path string) (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("find the host's name: %w", err)
	}
	if path == "-" {
		return host + ":" + standardInput, nil
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	text := []rune(host + ":" + path)
	return string(text[max(0, len(text)-254):]), nil
}

// checkOrigin refuses tasks of a crontab if one of them has the id of a task from
// elsewhere, or if its handler would run such a task's jobs.
func checkOrigin(tasks, rows []periodic.Task, from string) error {
	imported := map[string]*periodic.Task{}
	for i := range tasks {
		imported[tasks[i].ID] = &tasks[i]
	}
	var taken []string
	for i := range rows {
		row := &rows[i]
		if isFrom(row, imported[row.ID], from) {
			continue
		}
		if imported[row.ID] != nil {
			taken = append(taken, fmt.Sprintf("task %q exists and %s", row.ID, whence(row)))
		} else if imported[row.Task] != nil {
			taken = append(taken, fmt.Sprintf("the handler %q also runs the jobs of task %q, which %s", row.Task, row.ID, whence(row)))
		}
	}
	if len(taken) == 0 {
		return nil
	}
	return fmt.Errorf("%s; import the crontab with --prefix NAME, which gives its tasks and handlers other names",
		strings.Join(taken, "; "))
}

// isFrom reports whether a row comes from this crontab. Standard input may be any
// crontab, and another host (or the same in a new container) has other files:
// there a row must have the command or the timer in common with the task of its
// id, too.
func isFrom(row, task *periodic.Task, from string) bool {
	_, file, _ := strings.Cut(from, ":")
	_, rowFile, _ := strings.Cut(row.Subject, ":")
	if row.Submitter != importSubmitter || file != rowFile {
		return false
	}
	sure := row.Subject == from && file != standardInput
	return sure || task == nil || row.Summary == task.Summary || row.Timer == task.Timer
}

// whence says where a task comes from.
func whence(row *periodic.Task) string {
	if row.Submitter == importSubmitter && row.Subject != "" {
		return "comes from the crontab " + row.Subject
	}
	return "was not imported from a crontab"
}
