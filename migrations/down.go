package migrations

import (
	"context"
	"errors"
	"fmt"
)

// ErrHalfDown is returned by [Migrator.Check], [Migrator.CheckVersion] and [Migrator.Up]
// when a [Migrator.Down] was interrupted. It has taken back some migrations completely and
// the others not at all, but those that are taken back leave no older version that Up
// could go on from.
var ErrHalfDown = errors.New("nextrun migrate down was interrupted; finish it: nextrun migrate down --yes")

// goingDown is the row of nextrun_found from the beginning of a Down to its end.
const goingDown = "migrate down"

// descent is the record of a Down that has begun and not ended.
type descent struct{ m *Migrator }

// begin notes that Down has begun.
func (d descent) begin(ctx context.Context) error {
	version, err := d.m.Version(ctx)
	if err != nil || version == 0 {
		return err
	}
	_, err = d.m.db.ExecContext(ctx, "INSERT INTO nextrun_found (name) VALUES ('"+goingDown+"') ON CONFLICT DO NOTHING")
	return err
}

// underWay reports whether a Down has begun and not ended.
func (d descent) underWay(ctx context.Context, version int64) (down bool, err error) {
	if version == 0 {
		return false, nil
	}
	err = d.m.db.QueryRowContext(ctx, "SELECT count(*) > 0 FROM nextrun_found WHERE name = '"+goingDown+"'").Scan(&down)
	if err != nil {
		return false, fmt.Errorf("read nextrun_found: %w", err)
	}
	return down, nil
}

// check returns [ErrHalfDown] if an interrupted Down has left a version.
func (d descent) check(ctx context.Context, version int64) error {
	down, err := d.underWay(ctx, version)
	if err == nil && down {
		err = fmt.Errorf("%w (it has got to version %d)", ErrHalfDown, version)
	}
	return err
}

// forget forgets a Down that was interrupted before it had taken anything back. Of
// another one it returns [ErrHalfDown].
func (d descent) forget(ctx context.Context, version int64) error {
	latest, err := d.m.files.Latest()
	if err != nil {
		return err
	}
	if version < latest {
		return d.check(ctx, version)
	}
	if down, err := d.underWay(ctx, version); err != nil || !down {
		return err
	}
	_, err = d.m.db.ExecContext(ctx, "DELETE FROM nextrun_found WHERE name = '"+goingDown+"'")
	return err
}
