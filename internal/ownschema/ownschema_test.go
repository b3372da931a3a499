package ownschema_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/ownschema"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

func TestSchemaOfPostgreSQLItselfIsRefused(t *testing.T) {
	t.Parallel()
	db := storetest.New(t, storetest.Postgres)
	if err := ownschema.Create(t.Context(), db.SQL.DB, "information_schema"); err == nil || !strings.Contains(err.Error(), "name another one") {
		t.Errorf("got %v", err)
	}
}
