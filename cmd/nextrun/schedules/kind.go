package schedules

import (
	"io"

	"github.com/nextrun/nextrun/cmd/nextrun/config"
	"github.com/nextrun/nextrun/periodic"
)

// Kind is a program whose schedules can be read and written.
type Kind interface {
	// Name is what users call it; it is the submitter of its tasks, too.
	Name() string
	// Read reads files or directories; - is standard input. The items are in the
	// order of the files. An error is about a file that cannot be read at all.
	Read(paths []string, options Options) ([]Item, error)
	// Write writes tasks as this program has them. The items say what is lost.
	Write(tasks []Export, options Options) ([]File, []Item)
}

// Options say how schedules are read and written.
type Options struct {
	Stdin io.Reader
	// Host is the name of this machine, a part of origins.
	Host string
	// Zone is the zone of schedules that name none. Empty: UTC.
	Zone string
	// System is true if a user name precedes each command of a crontab.
	System bool
	// Database is where nextrun has its tables, if that is PostgreSQL: SQL for it can be the work
	// of a job itself. nil: it is not, or psql is to run all SQL.
	Database *Database
	// Image is the container image of exported CronJobs.
	Image string
}

// Database is one of PostgreSQL, as a URL names it.
type Database struct{ Server, Name, User string } // Server is host:port

// Item is a line of a report: a schedule, or something beside the schedules.
type Item struct {
	File    string   // as the user named it, or the id of a task that is written
	Line    int      // 0: unknown
	Source  string   // the schedule in its own words
	Refused string   // why there is no task; empty: there is one, or it is a note
	Changed []string // what is not as it was
	Unread  bool     // the file could not be read
	Entry   *Entry   // nil: refused, or a note about the file
}

// Outcome is what became of an item.
type Outcome string

// The outcomes.
const (
	Taken   Outcome = "taken"   // nextrun does the same
	Changed Outcome = "changed" // something is not as it was
	Refused Outcome = "refused" // there is no task
	Note    Outcome = "note"    // it is about the file, not about a schedule
)

// Outcome says what became of the item.
func (i *Item) Outcome() Outcome {
	switch {
	case i.Refused != "":
		return Refused
	case i.Entry == nil:
		return Note
	case len(i.Changed) > 0:
		return Changed
	}
	return Taken
}

// Change adds what is not as it was.
func (i *Item) Change(text string) { i.Changed = append(i.Changed, text) }

// Entry is a task to be.
type Entry struct {
	// Names are the ids that it may have, the best one first. See [Assign].
	Names []string
	// Origin says where it comes from: the subject of the task.
	Origin Origin
	// Task has all but ID, Task, Submitter, Subject and Sink.
	Task periodic.Task
	// Handler runs the jobs, for the configuration file. Nil: the items say what to
	// write there.
	Handler *config.Handler
	// Shares is the same for entries that share a handler. Empty: none.
	Shares string
	// Payload are the args of jobs for a handler or a queue that the user names, as JSON
	// writes them.
	Payload any
}

// Export is a task to be written.
type Export struct {
	Task    periodic.Task
	Handler *config.Handler // of the configuration file; nil: unknown
}

// File is a file of another program.
type File struct {
	Name string // without a directory
	Text string
}

// CommandPayload are the args of a job whose worker is to run a program.
type CommandPayload struct {
	Command []string `json:"command"`
	Env     []string `json:"env,omitempty"` // NAME=value
	Dir     string   `json:"dir,omitempty"`
	Image   string   `json:"image,omitempty"` // of a container
}
