package store

import (
	"context"
	"time"

	"github.com/nextrun/nextrun/jobqueue"
)

const active = "state IN ('scheduled', 'running')"

// Beat implements [jobqueue.Store].
func (s JobStore) Beat(ctx context.Context, worker string, jids []string) ([]jobqueue.Standing, error) {
	var standing []jobqueue.Standing
	err := s.db.Update(ctx, func(outer *Tx) error {
		tx := jobTx{Tx: outer}
		r, err := tx.db.newRecords(1, []field{{"jid", fieldText}}, len(jids), func(i int) []any { return []any{jids[i]} })
		if err != nil {
			return err
		}
		_, err = tx.exec(ctx, "UPDATE job SET heartbeat = $3 WHERE "+tx.ours(r, "'scheduled', 'running'"),
			r.param, worker, Timestamp(tx.now))
		if err != nil {
			return err
		}
		standing, err = tx.standing(ctx, jids)
		return err
	})
	return standing, err
}

// standing tells how jobs stand, in no order. Jobs that are gone are there
// without a state.
func (tx jobTx) standing(ctx context.Context, jids []string) ([]jobqueue.Standing, error) {
	if len(jids) == 0 {
		return nil, nil
	}
	r, err := tx.texts(1, jids)
	if err != nil {
		return nil, err
	}
	var rows []struct {
		JID    string
		State  string
		Worker string
		Cancel bool
	}
	err = tx.list(ctx, &rows, `SELECT v.value AS jid, coalesce(j.state, '') AS state, coalesce(j.worker, '') AS worker,
			j.cancel IS NOT NULL AS cancel
		FROM `+r.sql+` AS v LEFT JOIN job AS j ON j.jid = v.value`, r.param)
	if err != nil {
		return nil, err
	}
	standing := make([]jobqueue.Standing, len(rows))
	for i, row := range rows {
		standing[i] = jobqueue.Standing{JID: row.JID, State: jobqueue.State(row.State), Worker: row.Worker, Cancel: row.Cancel}
	}
	return standing, nil
}

// CancelRequests implements [jobqueue.Store].
func (s JobStore) CancelRequests(ctx context.Context, worker string) ([]string, error) {
	var jids []string
	err := s.db.View(ctx, func(tx *Tx) error {
		return tx.list(ctx, &jids, "SELECT jid FROM job WHERE "+active+" AND cancel IS NOT NULL AND worker = $1", worker)
	})
	return jids, err
}

// Recover implements [jobqueue.Store].
func (s JobStore) Recover(ctx context.Context, rules jobqueue.Rules) (jobqueue.Recovery, error) {
	var recovery jobqueue.Recovery
	err := s.db.Update(ctx, func(outer *Tx) (err error) {
		tx := jobTx{Tx: outer}
		if recovery.Interrupted, err = tx.takeBack(ctx, rules); err != nil {
			return err
		}
		if recovery.Retried, err = tx.unstick(ctx, rules.Limit); err != nil {
			return err
		}
		recovery.More = len(recovery.Interrupted) >= rules.Limit || recovery.Retried >= rules.Limit
		recovery.Next, err = tx.nextRecovery(ctx, rules)
		return err
	})
	return recovery, err
}

// takeBack returns jobs to waiting whose lease has ended.
func (tx jobTx) takeBack(ctx context.Context, rules jobqueue.Rules) ([]jobqueue.Standing, error) {
	dead, err := tx.jobs(ctx, "SELECT "+slimJobColumns+" FROM job WHERE "+active+
		" AND heartbeat < $1 ORDER BY heartbeat LIMIT $2"+tx.db.dialect.lockRows(),
		Timestamp(tx.now.Add(-rules.Lease)), rules.Limit)
	if err != nil {
		return nil, err
	}
	standing := map[string]jobqueue.Standing{}
	byWorker := map[string][]jobqueue.Ending{}
	for _, job := range dead {
		end := rules.Judge(job)
		byWorker[job.Worker] = append(byWorker[job.Worker], end)
		standing[job.JID] = jobqueue.Standing{JID: job.JID, State: end.To, Worker: job.Worker, Cancel: !job.Cancel.IsZero()}
	}
	var taken []jobqueue.Standing
	for worker, ends := range byWorker {
		ended, err := tx.end(ctx, worker, ends)
		if err != nil {
			return nil, err
		}
		for _, jid := range ended {
			taken = append(taken, standing[jid])
		}
	}
	return taken, nil
}

// unstick makes jobs wait again whose retry is due.
func (tx jobTx) unstick(ctx context.Context, limit int) (int, error) {
	n, err := tx.exec(ctx, `UPDATE job SET state = 'waiting', worker = NULL, heartbeat = NULL, retry = NULL
		WHERE state = 'stuck' AND retry <= $1 AND jid IN (SELECT jid FROM job WHERE state = 'stuck' AND retry <= $1
			ORDER BY retry LIMIT $2`+tx.db.dialect.lockRows()+`)`, Timestamp(tx.now), limit)
	return int(n), err
}

// minRecoveryPause keeps rows that cannot be had, since somebody has them
// locked, from being asked for again and again.
const minRecoveryPause = time.Second

func (tx jobTx) nextRecovery(ctx context.Context, rules jobqueue.Rules) (time.Duration, error) {
	var next struct{ Heartbeat, Retry Timestamp }
	err := tx.get(ctx, &next, "SELECT (SELECT heartbeat FROM job WHERE "+active+` AND heartbeat IS NOT NULL
			ORDER BY heartbeat LIMIT 1) AS heartbeat,
		(SELECT retry FROM job WHERE state = 'stuck' AND retry IS NOT NULL ORDER BY retry LIMIT 1) AS retry`)
	if err != nil {
		return 0, err
	}
	soonest := time.Duration(-1)
	consider := func(at time.Time) {
		wait := at.Sub(tx.now) + time.Millisecond
		if wait <= time.Millisecond {
			wait = minRecoveryPause
		}
		if soonest < 0 || wait < soonest {
			soonest = wait
		}
	}
	if heartbeat := next.Heartbeat.Time(); !heartbeat.IsZero() {
		consider(heartbeat.Add(rules.Lease))
	}
	if retry := next.Retry.Time(); !retry.IsZero() {
		consider(retry)
	}
	return soonest, nil
}
