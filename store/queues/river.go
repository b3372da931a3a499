package queues

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/nextrun/nextrun/internal/foreign"
	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
)

// The schema levels of River that differ here. The levels below riverMinLevel have
// no unique_states.
const (
	riverMinLevel          = 6
	riverNotificationLevel = 7 // river_notification; SQLite: JSON in binary form
)

// riverUnfinished are River's states of jobs that are not final, as its unique_states:
// available, pending, retryable, running and scheduled.
const riverUnfinished = "241"

// River is the queue of https://riverqueue.com: its table river_job, at schema
// level 6 or newer, in PostgreSQL or SQLite. A task's task is the kind of its jobs,
// args their arguments.
type River struct {
	// Schema is where River's tables are; empty: in the search path. It must be
	// empty on SQLite.
	Schema string
	// Queue is the name of River's queue for all tasks; empty: each task's group_.
	Queue string
	// MaxAttempts is how often River tries a job of a task without retry_limit;
	// 0: 25, its own default.
	MaxAttempts int
	// Priority is River's priority for all tasks, 1 (first) to 4; 0: that of the
	// task: 9 and 10 become 1, 6 to 8 become 2, 3 to 5 become 3, 0 to 2 become 4.
	Priority int
	// Gone is how a job ended that is not in the table any more: success, failed or unknown.
	// River deletes jobs a day after their end, and those that failed after a week.
	// Empty: unknown.
	Gone string
}

func (k River) kind() foreign.Kind { return river(k) }

type river River

// RiverTick returns the tick that a job of River is for, from its Metadata; ok is false for a job that no task has
// submitted. In its first attempt the job's ScheduledAt is Due, too; for a retry River moves that.
func RiverTick(metadata []byte) (tick periodic.TickKey, ok bool) {
	var m struct {
		Nextrun struct {
			Task string
			Due  time.Time
		}
	}
	if json.Unmarshal(metadata, &m) != nil || m.Nextrun.Task == "" {
		return tick, false
	}
	return periodic.TickKey{TaskID: m.Nextrun.Task, Due: m.Nextrun.Due}, true
}

// Validate implements [foreign.Kind].
func (k river) Validate() error {
	p := &service.Check{Config: "queues.River"}
	foreign.CheckIdentifier(p, "Schema", k.Schema)
	foreign.CheckName(p, "Queue", k.Queue, riverNameLength)
	foreign.CheckAttempts(p, "MaxAttempts", k.MaxAttempts)
	p.Field(0 <= k.Priority && k.Priority <= 4, "Priority", k.Priority, "1 to 4")
	foreign.CheckGone(p, k.Gone)
	return p.Err()
}

// Open implements [foreign.Kind].
func (k river) Open(db *sqldb.DB) (foreign.Queue, error) {
	if k.MaxAttempts == 0 {
		k.MaxAttempts = 25 // its own default
	}
	if err := k.Validate(); err != nil {
		return nil, err
	}
	if k.Schema != "" && db.SQL().IsSQLite() {
		return nil, fmt.Errorf("river: the schema is %q, but SQLite has no schemas; leave it empty", k.Schema)
	}
	heeds := []string{"retry_limit", "priority"}
	if k.Priority != 0 {
		heeds = heeds[:1]
	}
	return foreign.New(db, foreign.Spec{Kind: "river", Check: k.check, Detect: k.detect, Cancels: true, Retries: true,
		Tells: true, Gone: foreign.GoneState(k.Gone, "unknown"), Heeds: heeds}), nil
}

// riverNameLength is the greatest length of kinds and queues.
const riverNameLength = 127

func (k river) check(j jobqueue.Job) string {
	queue := foreign.QueueOf(k.Queue, j)
	switch {
	case j.Task == "":
		return "task is empty; River needs the kind of a job there"
	case utf8.RuneCountInString(j.Task) > riverNameLength:
		return fmt.Sprintf("task is longer than the %d characters that River's kinds can have", riverNameLength)
	case queue == "":
		return "group_ is empty; River needs the name of a queue there"
	case utf8.RuneCountInString(queue) > riverNameLength:
		return fmt.Sprintf("group_ is longer than the %d characters that River's queues can have", riverNameLength)
	}
	return foreign.CheckPriority(j)
}

func (k river) priority(j jobqueue.Job) int {
	switch {
	case k.Priority > 0:
		return k.Priority
	case j.Priority >= 9:
		return 1
	case j.Priority >= 6:
		return 2
	case j.Priority >= 3:
		return 3
	}
	return 4
}

// riverKey makes River refuse a second unfinished single job of a task. It never
// equals a key that River makes, which is the hash of a text that begins otherwise.
func riverKey(j jobqueue.Job) string {
	if !j.Single {
		return ""
	}
	hash := sha256.Sum256([]byte("nextrun:" + j.Tracker))
	return hex.EncodeToString(hash[:])
}

func (k river) columns() []foreign.Column {
	return []foreign.Column{
		foreign.ColumnJID, foreign.ColumnTracker, foreign.ColumnTask, foreign.ColumnQueue(k.Queue), foreign.NumberColumn("priority", k.priority),
		foreign.ColumnDue, foreign.ColumnMeta, foreign.TextColumn("unique_key", riverKey),
	}
}

var riverRights = []string{"SELECT", "INSERT", "UPDATE"}

var riverWrites = []string{
	"args", "kind", "max_attempts", "metadata", "priority", "queue", "scheduled_at", "state", "tags", "unique_key", "unique_states",
}

func (k river) detect(ctx context.Context, tx *sqldb.Tx, r *foreign.Inspection) (*foreign.Shape, error) {
	jobs := foreign.Relation{Schema: k.Schema, Name: "river_job", Unlike: true, Serial: "id", Writes: riverWrites,
		Rights: riverRights}
	const remedy = "run: river migrate-up --database-url ... (https://riverqueue.com/docs/migrations)"
	if ok, err := jobs.Look(ctx, tx, r, remedy); err != nil || !ok {
		return nil, err
	}
	level, err := k.level(ctx, tx, jobs.Found)
	if err != nil {
		return nil, err
	}
	switch {
	case level > 0 && level < riverMinLevel:
		r.Found = "schema level " + strconv.Itoa(level)
		r.Problem("run river migrate-up", "River's schema is at level %d; nextrun needs %d or newer", level, riverMinLevel)
		return nil, nil
	case !jobs.Has("unique_states"):
		r.Problem("run river migrate-up", "River's schema is too old: its table river_job has no column unique_states; nextrun needs level %d or newer", riverMinLevel)
		return nil, nil
	case !jobs.Complete(r):
		return nil, nil
	case level > 0:
		r.Found = "schema level " + strconv.Itoa(level)
	default:
		r.Found = fmt.Sprintf("schema level %d or newer", riverMinLevel)
	}
	if tx.SQL().IsSQLite() {
		return k.sqlite(ctx, tx)
	}
	return k.postgres(jobs.Found), nil
}

// level is the level of River's schema; 0 if this role may not read it.
func (k river) level(ctx context.Context, tx *sqldb.Tx, schema string) (level int, err error) {
	done := foreign.Relation{Schema: schema, Name: "river_migration", Rights: []string{"SELECT"}}
	var ignored foreign.Inspection // the right to read it is not needed
	if ok, err := done.Look(ctx, tx, &ignored, ""); err != nil || !ok {
		return 0, err
	}
	only := ""
	if slices.Contains(done.Columns, "line") {
		only = " WHERE line = 'main'"
	}
	err = tx.First(ctx, &level, `SELECT coalesce(max(version), 0) FROM `+done.As()+only)
	return level, err
}
