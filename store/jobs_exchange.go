package store

import (
	"context"
	"errors"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
)

// Exchange implements [jobqueue.Store]. Nobody but the worker should have its
// rows locked, so it first goes without looking for locks, which takes half the
// time, and only if it then has to wait for one it passes over locked rows.
func (s JobStore) Exchange(ctx context.Context, o jobqueue.Orders) (jobqueue.Report, error) {
	waits := s.db.dialect.lockRows() != "" && !o.Locked
	report, err := s.exchange(ctx, o, waits)
	if errors.Is(err, ErrBusy) && waits {
		return s.exchange(ctx, o, false)
	}
	return report, err
}

// exchange passes over locked rows, or waits for them, but briefly.
func (s JobStore) exchange(ctx context.Context, o jobqueue.Orders, waits bool) (jobqueue.Report, error) {
	report := jobqueue.Report{Group: o.Claim.Group, Phase: o.Claim.Phase}
	update := s.db.Update
	if waits {
		update = s.db.updateBriefly
	}
	err := update(ctx, func(outer *Tx) (err error) {
		tx := jobTx{Tx: outer, waits: waits}
		if report.Held, err = tx.writeLines(ctx, o.Lines); err != nil {
			return err
		}
		if err := tx.progress(ctx, o.Worker, o.Progress); err != nil {
			return err
		}
		if report.Ended, err = tx.end(ctx, o.Worker, o.End); err != nil {
			return err
		}
		if report.Begun, err = tx.begin(ctx, o.Worker, o.Begin); err != nil {
			return err
		}
		if report.Missed, err = tx.missed(ctx, o, report); err != nil {
			return err
		}
		if err := tx.giveBack(ctx, o); err != nil {
			return err
		}
		return tx.claimInto(ctx, o, &report)
	})
	return report, err
}

func (tx jobTx) claimInto(ctx context.Context, o jobqueue.Orders, report *jobqueue.Report) (err error) {
	if o.Claim.Limit == 0 || len(o.Claim.Tasks) == 0 {
		return nil
	}
	kinds, complete := o.Claim.Kinds, true
	if len(kinds) == 0 {
		if kinds, complete, err = tx.kinds(ctx, o.Claim); err != nil || len(kinds) == 0 {
			return err
		}
	}
	if report.Claimed, err = tx.take(ctx, o.Worker, o.Claim, kinds); err != nil {
		return err
	}
	var lines []jobqueue.Line
	for _, job := range report.Claimed {
		if job.State == jobqueue.Running {
			lines = append(lines, o.Claim.Line(job))
		}
	}
	if err := tx.insertLines(ctx, lines); err != nil {
		return err
	}
	if complete && len(report.Claimed) == o.Claim.Limit {
		report.Kinds = kinds
	}
	report.Group, report.Phase = o.Claim.Next(report.Claimed)
	if report.Group == o.Claim.Group || o.Claim.Name == "" {
		return nil
	}
	return tx.recordGroup(ctx, o.Claim.Name, report.Group)
}

// plainState is the column state in conditions on rows found by their ids: it
// hides the partial indexes over states from the planner, whose statistics on
// them are out of date as soon as a queue fills or empties.
const plainState = "state || ''"

// ours is the fence of every transition that a worker makes; $1 are records
// with the column jid, and $2 is the worker. Rows that somebody else has locked
// are passed over, unless the transaction waits for them.
func (tx jobTx) ours(r records, states string) string {
	fence := "job." + plainState + " IN (" + states + ") AND coalesce(job.worker, '') = $2 AND job.heartbeat IS NOT NULL"
	if tx.waits {
		return fence
	}
	return fence + " AND job.jid IN (SELECT jid FROM job WHERE jid IN (SELECT v.jid FROM " + r.sql + " AS v) AND " +
		fence + tx.db.dialect.lockRows() + ")"
}

func (tx jobTx) begin(ctx context.Context, worker string, list []jobqueue.Beginning) ([]string, error) {
	if len(list) == 0 {
		return nil, nil
	}
	r, err := tx.db.newRecords(1, []field{{"jid", fieldText}}, len(list), func(i int) []any { return []any{list[i].JID} })
	if err != nil {
		return nil, err
	}
	var begun []string
	err = tx.list(ctx, &begun, `UPDATE job SET state = 'running', started = $3, startedmillis = $4, heartbeat = $3,
			progress = 0, result = NULL
		WHERE job.jid IN (SELECT v.jid FROM `+r.sql+` AS v) AND cancel IS NULL AND `+tx.ours(r, "'scheduled'")+` RETURNING jid`,
		r.param, worker, Timestamp(tx.now), tx.now.UnixMilli())
	if err != nil {
		return nil, err
	}
	done := set(begun)
	var lines []jobqueue.Line
	for _, b := range list {
		if done[b.JID] && b.Line.Message != "" {
			lines = append(lines, b.Line)
		}
	}
	return begun, tx.insertLines(ctx, lines)
}

func (tx jobTx) end(ctx context.Context, worker string, list []jobqueue.Ending) ([]string, error) {
	if len(list) == 0 {
		return nil, nil
	}
	columns := []field{{"jid", fieldText}, {"was", fieldText}, {"state", fieldText}, {"result", fieldText},
		{"retry", fieldTime}, {"finished", fieldTime}, {"tried", fieldInt}, {"interrupted", fieldInt}}
	r, err := tx.db.newRecords(1, columns, len(list), func(i int) []any {
		e := list[i]
		var retry, finished time.Time
		tried, interrupted := 0, 0
		switch {
		case e.To.Final():
			finished = tx.now
		case e.To == jobqueue.Stuck:
			tried, retry = 1, tx.now.Add(e.Delay)
		}
		if e.Interrupted {
			interrupted = 1
		}
		return []any{e.JID, string(e.From), string(e.To), nullable(e.Result), retry, finished, tried, interrupted}
	})
	if err != nil {
		return nil, err
	}
	var ended []string
	err = tx.list(ctx, &ended, `UPDATE job SET state = r.state, result = r.result, retry = r.retry, finished = r.finished,
			heartbeat = NULL, worker = CASE WHEN r.state = 'waiting' THEN NULL ELSE job.worker END,
			retries = job.retries + r.tried, interrupts = job.interrupts + r.interrupted,
			progress = CASE WHEN r.state = 'success' THEN 100 ELSE job.progress END
		FROM `+r.sql+` AS r
		WHERE job.jid = r.jid AND job.state = r.was AND (job.cancel IS NULL OR r.state NOT IN ('waiting', 'stuck')) AND `+
		tx.ours(r, "'scheduled', 'running'")+` RETURNING job.jid`, r.param, worker)
	if err != nil {
		return nil, err
	}
	done := set(ended)
	var lines []jobqueue.Line
	for _, e := range list {
		if done[e.JID] {
			lines = append(lines, e.Lines...)
		}
	}
	return ended, tx.insertLines(ctx, lines)
}

// giveBack returns the jobs that the worker has got without knowing.
func (tx jobTx) giveBack(ctx context.Context, o jobqueue.Orders) error {
	if !o.Unheard {
		return nil
	}
	r, err := tx.texts(1, o.InHand)
	if err != nil {
		return err
	}
	_, err = tx.exec(ctx, `UPDATE job SET state = 'waiting', worker = NULL, heartbeat = NULL WHERE jid IN (
			SELECT jid FROM job WHERE `+active+` AND worker = $2 AND cancel IS NULL AND heartbeat IS NOT NULL
				AND jid NOT IN (SELECT v.value FROM `+r.sql+` AS v)`+tx.db.dialect.lockRows()+`)`, r.param, o.Worker)
	return err
}

func (tx jobTx) progress(ctx context.Context, worker string, list []jobqueue.Progress) error {
	if len(list) == 0 {
		return nil
	}
	r, err := tx.db.newRecords(1, []field{{"jid", fieldText}, {"percent", fieldInt}}, len(list),
		func(i int) []any { return []any{list[i].JID, list[i].Percent} })
	if err != nil {
		return err
	}
	_, err = tx.exec(ctx, `UPDATE job SET progress = r.percent FROM `+r.sql+` AS r
		WHERE job.jid = r.jid AND `+tx.ours(r, "'running'"), r.param, worker)
	return err
}

// missed tells how the jobs stand that were ordered but did not change.
func (tx jobTx) missed(ctx context.Context, o jobqueue.Orders, report jobqueue.Report) ([]jobqueue.Standing, error) {
	ended, begun := set(report.Ended), set(report.Begun)
	var jids []string
	for _, e := range o.End {
		if !ended[e.JID] {
			jids = append(jids, e.JID)
		}
	}
	for _, b := range o.Begin {
		if !begun[b.JID] {
			jids = append(jids, b.JID)
		}
	}
	return tx.standing(ctx, jids)
}

func set(values []string) map[string]bool {
	m := make(map[string]bool, len(values))
	for _, v := range values {
		m[v] = true
	}
	return m
}
