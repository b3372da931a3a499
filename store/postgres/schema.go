package postgres

import (
	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/store/internal/dburl"
)

// schemaParameter is the parameter of a database URL that names the schema. The
// server does not get it.
const schemaParameter = "schema"

// settleSchema takes the schema from the options, or else from the URL, and has the
// URL show it.
func settleSchema(o sqldb.Options, u dburl.URL) (sqldb.Options, dburl.URL, error) {
	query := u.Postgres.Query()
	if o.Schema == "" {
		o.Schema = query.Get(schemaParameter)
	}
	if o.Schema == "" {
		return o, u, nil
	}
	if err := sqldb.ValidSchema(o.Schema); err != nil {
		return o, u, err
	}
	query.Set(schemaParameter, o.Schema)
	settled := *u.Postgres
	settled.RawQuery = query.Encode()
	u.Postgres = &settled
	return o, u, nil
}
