package pgxstore

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/nextrun/nextrun/jobqueue"
)

// Tx returns a transaction of pgx, on the same database, as one that In of [jobqueue.Queue]
// and of periodic.Tasks takes, and all else that takes a [jobqueue.DBTX]. Commit or
// roll back the transaction of pgx; what Tx returns needs no end. Use both by one goroutine.
//
// What the transaction changes wakes the services when it commits, by a notification.
//
// The first call leaves a goroutine of database/sql behind, for as long as the program runs.
func Tx(tx pgx.Tx) jobqueue.DBTX { return bridge{tx} }

// bridge is a transaction of pgx for database/sql, which alone can make its rows. Each
// statement gets its own connection, which stands for the transaction.
type bridge struct{ tx pgx.Tx }

type bridgeKey struct{}

// bridges makes these connections.
var bridges = sync.OnceValue(func() *sql.DB {
	db := sql.OpenDB(bridgeConnector{})
	db.SetMaxIdleConns(0)
	return db
})

func (b bridge) with(ctx context.Context) context.Context {
	return context.WithValue(ctx, bridgeKey{}, b.tx)
}

// ExecContext implements [jobqueue.DBTX].
func (b bridge) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return bridges().ExecContext(b.with(ctx), query, args...)
}

// QueryContext implements [jobqueue.DBTX].
func (b bridge) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return bridges().QueryContext(b.with(ctx), query, args...)
}

// QueryRowContext implements [jobqueue.DBTX].
func (b bridge) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	return bridges().QueryRowContext(b.with(ctx), query, args...)
}

type bridgeConnector struct{}

// Connect implements [driver.Connector].
func (bridgeConnector) Connect(ctx context.Context) (driver.Conn, error) {
	return bridgeConn{ctx.Value(bridgeKey{}).(pgx.Tx)}, nil
}

// Driver implements [driver.Connector].
func (bridgeConnector) Driver() driver.Driver { return lent{} }

// bridgeConn is a connection that stands for a transaction.
type bridgeConn struct{ tx pgx.Tx }

var (
	_ driver.ExecerContext     = bridgeConn{}
	_ driver.QueryerContext    = bridgeConn{}
	_ driver.NamedValueChecker = bridgeConn{}
)

var errInTx = errors.New("pgxstore.Tx: only statements can be run in a transaction of pgx")

// Prepare implements [driver.Conn].
func (bridgeConn) Prepare(string) (driver.Stmt, error) { return nil, errInTx }

// Begin implements [driver.Conn].
func (bridgeConn) Begin() (driver.Tx, error) { return nil, errInTx }

// Close implements [driver.Conn]. The transaction goes on.
func (bridgeConn) Close() error { return nil }

// CheckNamedValue implements [driver.NamedValueChecker]: pgx takes any value.
func (bridgeConn) CheckNamedValue(*driver.NamedValue) error { return nil }

// ExecContext implements [driver.ExecerContext].
func (c bridgeConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	tag, err := c.tx.Exec(ctx, query, values(args)...)
	return driver.RowsAffected(tag.RowsAffected()), err
}

// QueryContext implements [driver.QueryerContext].
func (c bridgeConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := c.tx.Query(ctx, query, append([]any{formats}, values(args)...)...)
	if err != nil {
		return nil, err
	}
	more := rows.Next() // before it, the columns are not known
	if err := rows.Err(); err != nil {
		rows.Close()
		return nil, err
	}
	return &bridgeRows{rows: rows, types: c.tx.Conn().TypeMap(), more: more}, nil
}

func values(named []driver.NamedValue) []any {
	list := make([]any, len(named))
	for i, v := range named {
		list[i] = v.Value
	}
	return list
}

// formats has the types that database/sql knows in binary. All others come as texts.
var formats = pgx.QueryResultFormatsByOID{
	pgtype.BoolOID: pgx.BinaryFormatCode, pgtype.ByteaOID: pgx.BinaryFormatCode, pgtype.DateOID: pgx.BinaryFormatCode,
	pgtype.Float4OID: pgx.BinaryFormatCode, pgtype.Float8OID: pgx.BinaryFormatCode, pgtype.Int2OID: pgx.BinaryFormatCode,
	pgtype.Int4OID: pgx.BinaryFormatCode, pgtype.Int8OID: pgx.BinaryFormatCode, pgtype.TimestampOID: pgx.BinaryFormatCode,
	pgtype.TimestamptzOID: pgx.BinaryFormatCode,
}

// bridgeRows are rows, of which one has been read.
type bridgeRows struct {
	rows  pgx.Rows
	types *pgtype.Map
	more  bool
}

// Columns implements [driver.Rows].
func (r *bridgeRows) Columns() []string {
	fields := r.rows.FieldDescriptions()
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// Close implements [driver.Rows].
func (r *bridgeRows) Close() error {
	r.rows.Close()
	return r.rows.Err()
}

// Next implements [driver.Rows].
func (r *bridgeRows) Next(row []driver.Value) error {
	if !r.more {
		return cmp.Or(r.rows.Err(), io.EOF)
	}
	raw := r.rows.RawValues()
	for i, f := range r.rows.FieldDescriptions() {
		var err error
		if _, known := formats[f.DataTypeOID]; !known || raw[i] == nil {
			row[i] = text(raw[i])
			continue
		}
		one, _ := r.types.TypeForOID(f.DataTypeOID)
		if row[i], err = one.Codec.DecodeDatabaseSQLValue(r.types, f.DataTypeOID, f.Format, raw[i]); err != nil {
			return err
		}
	}
	r.more = r.rows.Next()
	return nil
}

// text is a value that came as a text; nil is NULL.
func text(raw []byte) driver.Value {
	if raw == nil {
		return nil
	}
	return string(raw)
}
