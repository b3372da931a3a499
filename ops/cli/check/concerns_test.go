package check_test

import (
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
)

// A trigger that may drop or change what nextrun writes is named; one that runs after it is not.
func TestCheckNamesTriggersBeforeWrites(t *testing.T) {
	t.Parallel()
	clitest.OnBothMigrated(t, func(t *testing.T, s clitest.Shell) {
		if strings.HasPrefix(s.Env["NEXTRUN_DB"], "sqlite:") {
			s.Exec(t, `CREATE TRIGGER early INSERT ON job BEGIN SELECT RAISE(IGNORE); END`) // which is BEFORE
			s.Exec(t, `CREATE TRIGGER late AFTER INSERT ON job BEGIN SELECT 1; END`)
		} else {
			s.Exec(t, `CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$`)
			s.Exec(t, `CREATE TRIGGER early BEFORE INSERT ON job FOR EACH ROW EXECUTE FUNCTION swallow()`)
			s.Exec(t, `CREATE TRIGGER late AFTER INSERT ON job FOR EACH ROW EXECUTE FUNCTION swallow()`)
		}
		report := s.Must(t, "check")
		clitest.WantLines(t, report, "warning schema the trigger early on job runs before rows are written, and is not nextrun's")
		if strings.Contains(report, "late on job") || strings.Count(report, "runs before") != 1 {
			t.Errorf("the report names other triggers:\n%s", report)
		}
	})
}

// A database that takes bytes that are no text is named.
func TestCheckNamesAnEncodingThatTakesAnyBytesPostgres(t *testing.T) {
	t.Parallel()
	server := storetest.New(t, storetest.Postgres)
	name := server.One("SELECT current_database()") + "_check"
	server.Exec(`CREATE DATABASE "` + name + `" TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'`)
	t.Cleanup(func() { server.Exec(`DROP DATABASE "` + name + `" WITH (FORCE)`) })
	s := clitest.Shell{Env: map[string]string{"NEXTRUN_DB": server.URL[:strings.LastIndex(server.URL, "/")+1] + name}}
	s.Must(t, "migrate", "up")
	clitest.WantLines(t, s.Must(t, "check"), "warning schema the database has the encoding SQL_ASCII")
}
