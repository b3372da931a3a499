package view

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/periodic/batch"
)

// Streak is when a task whose newest ticks went wrong began to, as far as it is known.
type Streak struct {
	Success time.Time // when the newest tick that ended well was due; zero: none is known
	Ended   time.Time // when its run ended
	Since   time.Time // when the first one after it that failed, was missed or late was due; zero: there is none
	Failed  int       // how many of those after it failed
	Lost    int       // how many of them were missed or late
	Cut     bool      // older ticks are recorded that were not looked at
}

// Tasks reads how tasks are doing, with so many of their newest runs, [Judged] at least.
func (r Reader) Tasks(ctx context.Context, tasks []periodic.Task, runs int) ([]Task, error) {
	list, of := make([]Task, len(tasks)), make(byID, len(tasks))
	begin := func(_ context.Context, tx *sqldb.Tx) error {
		for i := range tasks {
			list[i] = Task{Task: &tasks[i], Now: tx.Now()}
			of[tasks[i].ID] = &list[i]
		}
		return nil
	}
	return list, r.read(ctx, "read how tasks are doing", begin, of.readRuns(max(runs, Judged)), of.readStreaks, of.readDue, of.readStale)
}

// byID are tasks by their ids.
type byID map[string]*Task

// ids are those of the tasks that a condition holds for.
func (of byID) ids(holds func(*Task) bool) (ids []string) {
	for id, t := range of {
		if holds(t) {
			ids = append(ids, id)
		}
	}
	return ids
}

func (of byID) readRuns(n int) func(context.Context, *sqldb.Tx) error {
	return func(ctx context.Context, tx *sqldb.Tx) error {
		list, err := readNewest(ctx, tx, of.ids(func(*Task) bool { return true }), n, periodic.Never)
		for i := range list {
			t := of[list[i].TaskID]
			t.Runs = append(t.Runs, list[i])
		}
		return err
	}
}

// Of so many of the newest ticks of all tasks, and of each at least and at most, a [Streak] is made.
const (
	streakTicks = 4000
	streakLeast = 100
	streakMost  = 3000
)

// streakOf is the streak of the newest runs. It is whole if one of them succeeded.
func streakOf(runs []Run) (s Streak, whole bool) {
	for i := range runs {
		r := &runs[i]
		switch became := r.Outcome(); {
		case r.Decision == periodic.Missed || r.Decision == periodic.Late:
			s.Lost, s.Since = s.Lost+1, r.Due
		case r.Decision != periodic.Submitted:
		case became == "failed":
			s.Failed, s.Since = s.Failed+1, r.Due
		case became == "success":
			s.Success, s.Ended = r.Due, r.Finished
			return s, true
		}
	}
	return s, false
}

// readStreaks reads since when tasks have gone wrong, and the newest success of those whose newest runs have none.
func (of byID) readStreaks(ctx context.Context, tx *sqldb.Tx) error {
	ids := of.ids(func(t *Task) bool {
		if ended := t.ended(); ended != "" && ended != OK {
			streak, whole := streakOf(t.Runs)
			t.Streak = streak
			return !whole
		}
		return t.Success().IsZero() && len(t.Runs) >= Judged
	})
	if len(ids) == 0 {
		return nil
	}
	asked := tx.Texts(1, ids)
	most := min(max(streakTicks/len(ids), streakLeast), streakMost)
	var rows []struct {
		ID                    string
		Success, Ended, Since sqldb.RowTime
		Failed, Lost, Ticks   int
	}
	err := tx.Select(ctx, &rows, `WITH t AS MATERIALIZED (`+newestOf(asked.SQL)+`),
			r AS MATERIALIZED (SELECT k.task_id, k.due, k.finished, CASE WHEN k.decision <> 'submitted' THEN k.decision ELSE k.state END AS became
				FROM t JOIN periodic_run AS k ON k.task_id = t.id AND k.due >= t.oldest AND k.due < $3),
			s AS (SELECT task_id, max(due) AS success FROM r WHERE became = 'success' GROUP BY task_id)
		SELECT r.task_id AS id, max(s.success) AS success, max(CASE WHEN r.due = s.success THEN r.finished END) AS ended,
			min(CASE WHEN r.became IN ('failed', 'missed', 'late') THEN r.due END) AS since,
			count(CASE WHEN r.became = 'failed' THEN 1 END) AS failed, count(CASE WHEN r.became IN ('missed', 'late') THEN 1 END) AS lost, count(*) AS ticks
		FROM r LEFT JOIN s ON s.task_id = r.task_id WHERE s.success IS NULL OR r.due >= s.success GROUP BY r.task_id`,
		asked.Param, most-1, sqldb.Timestamp(periodic.Never))
	for _, row := range rows {
		of[row.ID].Streak = Streak{row.Success.Time(), row.Ended.Time(), row.Since.Time(), row.Failed, row.Lost, row.Ticks == most}
	}
	return err
}

// readDue reads what is due of tasks, and the last runs of those whose newest ticks did not run.
func (of byID) readDue(ctx context.Context, tx *sqldb.Tx) error {
	asked := tx.Texts(1, of.ids(func(*Task) bool { return true }))
	var rows []struct {
		ID               string
		Waits            int
		Since, Submitted sqldb.RowTime
	}
	err := tx.Select(ctx, &rows, `SELECT t.id, t.since, CASE WHEN `+batch.Waits+` THEN 1 ELSE 0 END AS waits,
			(SELECT k.due FROM periodic_tick AS k WHERE k.task_id = t.id AND k.decision = 'submitted' ORDER BY k.due DESC LIMIT 1) AS submitted
		FROM periodic_task AS t WHERE t.id IN (SELECT v.value FROM `+asked.SQL+` AS v)`, asked.Param)
	var older []periodic.TickKey
	for _, row := range rows {
		t := of[row.ID]
		t.Edited, t.Waits = row.Since.Time(), row.Waits == 1
		if at := row.Submitted.Time(); !at.IsZero() && t.Last() == nil {
			older = append(older, periodic.TickKey{TaskID: row.ID, Due: at})
		}
	}
	if err != nil {
		return err
	}
	runs, err := readOf(ctx, tx, older)
	for i := range runs {
		of[runs[i].TaskID].Older = &runs[i]
	}
	return err
}

// readStale reads of which tasks no run has succeeded in time. Of others than those it asks for, all is done that must be.
func (of byID) readStale(ctx context.Context, tx *sqldb.Tx) error {
	ids := of.ids(func(t *Task) bool { return len(t.Runs) == 0 || t.Runs[0].State != "success" || t.NextRun.Before(t.Now) })
	if len(ids) == 0 {
		return nil
	}
	asked := tx.Texts(1, ids)
	among := `IN (SELECT v.value FROM ` + asked.SQL + ` AS v)`
	if !tx.SQL().IsSQLite() {
		among = `= ANY (ARRAY(SELECT v.value FROM ` + asked.SQL + ` AS v))` // else PostgreSQL judges all tasks
	}
	var rows []struct {
		ID                string
		Expected, Success sqldb.RowTime
	}
	err := tx.Select(ctx, &rows, `SELECT s.id, s.expected, s.last_success AS success FROM periodic_stale AS s WHERE s.id `+among, asked.Param)
	for _, row := range rows {
		of[row.ID].Stale = &Stale{row.Expected.Time(), row.Success.Time()}
	}
	return err
}
