package docspell

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// Database is what a database tells about a Docspell that works with it.
type Database struct{ db *sqldb.DB }

// In returns what a database tells about Docspell.
func In(db sqldb.Opened) Database { return Database{sqldb.Of(db)} }

// joexNode is a row of Docspell's table node.
type joexNode struct {
	ID, URL  string
	NotFound int
}

// nodes lists the rows of job executors; none without such a table.
func (d Database) nodes(ctx context.Context) (nodes []joexNode, err error) {
	err = d.db.View(ctx, func(tx *sqldb.Tx) error {
		has, err := nodeColumns(ctx, tx)
		if err != nil || has == nil {
			return err
		}
		notFound := "0"
		if has["not_found"] { // older ones lack it
			notFound = "not_found"
		}
		return tx.Select(ctx, &nodes, "SELECT id, url, "+notFound+" AS notfound FROM node WHERE lower(type) = 'joex' ORDER BY id")
	})
	return nodes, err
}

// nodeColumns are the columns of Docspell's table node; nil: there is none.
func nodeColumns(ctx context.Context, tx *sqldb.Tx) (map[string]bool, error) {
	columns, err := tx.Columns(ctx, "node")
	if err != nil {
		return nil, err
	}
	if has := sqldb.Set(columns); has["id"] && has["type"] && has["url"] {
		return has, nil
	}
	return nil, nil
}

// IsHere reports whether Docspell works with this database: it has Docspell's
// table node.
func (d Database) IsHere(ctx context.Context) (is bool, err error) {
	err = d.db.View(ctx, func(tx *sqldb.Tx) error {
		has, err := nodeColumns(ctx, tx)
		is = has != nil
		return err
	})
	if err != nil {
		return false, fmt.Errorf("look for Docspell's table node: %w", err)
	}
	return is, nil
}

// RefuseHooks refuses hooks in a database of Docspell.
func (d Database) RefuseHooks(ctx context.Context) error {
	if is, err := d.IsHere(ctx); err != nil || !is {
		return err
	}
	return errors.New("hooks do not work on the tables of Docspell: its executors (joex) would take the jobs of hooks and fail them; " +
		"remove the hooks from the configuration, or use a database, or a schema, of nextrun's own")
}

// joexNotify is where Docspell's job executors take note of new jobs, below the
// address that the table node has.
const joexNotify = "/api/v1/notify"

// NotifyURLs lists the URLs at which Docspell's job executors take note of new
// jobs by a POST; without that they look for jobs every 30 minutes. It fits
// notify.Config.Addresses.
func (d Database) NotifyURLs(ctx context.Context) ([]string, error) {
	nodes, err := d.nodes(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the addresses of Docspell's job executors: %w", err)
	}
	urls := make([]string, len(nodes))
	for i, n := range nodes {
		urls[i] = strings.TrimRight(n.URL, "/") + joexNotify
	}
	return urls, nil
}

// Offset is how far the times that Docspell's job executors write are
// ahead of UTC. Docspell writes the begin of a job twice: in the zone of its process
// (started), and in milliseconds since 1970 (startedmillis). Offset is the
// difference in the newest job that Docspell has begun, 0 if there is none.
func (d Database) Offset(ctx context.Context) (time.Duration, error) {
	var newest []struct {
		Started       sqldb.Timestamp
		StartedMillis int64
	}
	err := d.db.View(ctx, func(tx *sqldb.Tx) error {
		// The workers of nextrun are NAME@BOOTID.
		return tx.Select(ctx, &newest, `SELECT started, startedmillis FROM job
			WHERE started IS NOT NULL AND startedmillis IS NOT NULL AND worker NOT LIKE '%@____________'
			ORDER BY startedmillis DESC LIMIT 1`)
	})
	if err != nil || len(newest) == 0 {
		return 0, err
	}
	offset := newest[0].Started.Time().Sub(time.UnixMilli(newest[0].StartedMillis)).Round(time.Minute)
	if offset.Abs() > mostOffset { // no zone is that far away: somebody else wrote the row
		return 0, nil
	}
	return offset, nil
}

// mostOffset is how far zones are away from UTC at most.
const mostOffset = 14 * time.Hour

// RefuseLive returns an error, which says what to do, while the table node has a job executor: each of them runs Docspell's own
// periodic scheduler, which submits the same rows of periodic_task.
//
// An executor has a row from its start until it stops in order. Docspell does not
// renew the row, but its housekeeping asks every node from time to time, and counts
// in not_found how often a node did not answer. So a crashed executor counts
// until it has not answered once.
func (d Database) RefuseLive(ctx context.Context) error {
	nodes, err := d.nodes(ctx)
	if err != nil {
		return fmt.Errorf("look for Docspell's job executors: %w", err)
	}
	var live []string
	for _, n := range nodes {
		if n.NotFound == 0 {
			live = append(live, n.ID+" ("+n.URL+")")
		}
	}
	if len(live) == 0 {
		return nil
	}
	return fmt.Errorf("a Docspell job executor uses this database: %s. It schedules the same periodic tasks by itself. Stop it (one that crashed: "+
		"DELETE FROM node WHERE id = '...'), or give --beside-docspell to schedule beside it; see docs/docspell.md", strings.Join(live, ", "))
}
