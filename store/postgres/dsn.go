package postgres

import (
	"os"
	"strconv"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/store/internal/dburl"
	server "github.com/nextrun/nextrun/store/internal/postgres"
)

// dsn is the URL with the parameters that nextrun adds. alone leaves out other schemas than that of the options.
func dsn(to dburl.URL, options sqldb.Options, alone bool) string {
	u := *to.Postgres
	query := u.Query()
	// Sent with the connection, so no session state is needed that a pooler
	// would break; timeouts are set in each transaction (see begin).
	if !query.Has("connect_timeout") {
		query.Set("connect_timeout", strconv.Itoa(int(max(1, options.ConnectTimeout/time.Second))))
	}
	if !query.Has("sslmode") && os.Getenv("PGSSLMODE") == "" {
		query.Set("sslmode", "prefer") // as psql does
	}
	if !query.Has("binary_parameters") {
		query.Set("binary_parameters", "yes") // a statement and its parameters in one round trip
	}
	if !query.Has("application_name") && !query.Has("fallback_application_name") {
		query.Set("fallback_application_name", "nextrun")
	}
	query.Del(schemaParameter)
	if options.Schema != "" {
		path := server.QuoteSchema(options.Schema)
		if others := query.Get("search_path"); others != "" && !alone {
			path += ", " + others
		}
		query.Set("search_path", path)
	}
	u.RawQuery = query.Encode()
	return u.String()
}

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
