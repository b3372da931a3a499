package periodic_test

import "time"

// auditLock has the database itself write down who held the lock, and who
// committed ticks while which term was in the row. On PostgreSQL that is looked
// at when the transaction commits, after all that it does.
func (f *fixture) auditLock() {
	f.Helper()
	if f.Kind == "sqlite" {
		f.exec(`CREATE TABLE audit_lock (seq integer PRIMARY KEY AUTOINCREMENT, token bigint, holder text)`)
		f.exec(`CREATE TABLE audit_tick (worker text, token bigint, holder text)`)
		for _, event := range []string{"INSERT", "UPDATE"} {
			f.exec(`CREATE TRIGGER audit_lock_` + event + ` AFTER ` + event + ` ON scheduler_lock BEGIN
				INSERT INTO audit_lock (token, holder) VALUES (NEW.token, NEW.holder); END`)
		}
		f.exec(`CREATE TRIGGER audit_tick AFTER INSERT ON periodic_tick BEGIN
			INSERT INTO audit_tick SELECT NEW.worker, token, holder FROM scheduler_lock; END`)
		return
	}
	f.exec(`CREATE TABLE audit_lock (seq bigserial PRIMARY KEY, token bigint, holder text)`)
	f.exec(`CREATE TABLE audit_tick (worker text, token bigint, holder text)`)
	f.exec(`CREATE FUNCTION audit_lock() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		INSERT INTO audit_lock (token, holder) VALUES (NEW.token, NEW.holder); RETURN NULL; END $$`)
	f.exec(`CREATE TRIGGER audit_lock AFTER INSERT OR UPDATE ON scheduler_lock FOR EACH ROW EXECUTE FUNCTION audit_lock()`)
	f.exec(`CREATE FUNCTION audit_tick() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		INSERT INTO audit_tick SELECT NEW.worker, token, holder FROM scheduler_lock; RETURN NULL; END $$`)
	f.exec(`CREATE CONSTRAINT TRIGGER audit_tick AFTER INSERT ON periodic_tick
		DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION audit_tick()`)
}

// stepDatabaseClock prepares steps of the database's clock and returns the
// function that makes one. SQLite's clock is the host's, which contenders read
// through a file. On PostgreSQL a function of the same name comes before the
// server's clock_timestamp in the search path, so that every statement of
// nextrun, unchanged, sees the step.
func (f *fixture) stepDatabaseClock(file string) func(step time.Duration) {
	f.Helper()
	if f.Kind == "sqlite" {
		return func(step time.Duration) { stepClock(f, file, step) }
	}
	f.exec(`CREATE SCHEMA stepped`)
	f.exec(`CREATE TABLE stepped.step (seconds double precision)`)
	f.exec(`INSERT INTO stepped.step VALUES (0)`)
	f.exec(`CREATE FUNCTION stepped.clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql AS $$ BEGIN
		RETURN pg_catalog.clock_timestamp() + (SELECT seconds FROM stepped.step) * interval '1 second'; END $$`)
	f.exec(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = stepped, public, pg_catalog', current_database()); END $$`)
	return func(step time.Duration) { f.exec(`UPDATE stepped.step SET seconds = ?`, step.Seconds()) }
}

// auditTerms fails if the lock did not do what it is for.
func (f *fixture) auditTerms() {
	f.Helper()
	// Nobody commits a tick without holding the lock.
	f.want(0, `SELECT count(*) FROM audit_tick WHERE worker <> holder`)
	// One submitter for each token.
	f.want(0, `SELECT count(*) FROM (SELECT token FROM audit_tick GROUP BY token HAVING count(DISTINCT holder) > 1) AS shared`)
	// Tokens only rise, and with every change of the holder.
	f.want(0, `SELECT count(*) FROM (SELECT token, holder, lag(token) OVER (ORDER BY seq) AS before,
			lag(holder) OVER (ORDER BY seq) AS predecessor FROM audit_lock) AS h
		WHERE token < before OR holder <> predecessor AND token <= before`)
}

// auditTicks fails if a tick of the tasks, which elapse every second, was lost
// or doubled.
func (f *fixture) auditTicks() {
	f.Helper()
	seconds := `(CAST(strftime('%s', max(due)) AS integer) - CAST(strftime('%s', min(due)) AS integer))`
	if f.Kind == "postgres" {
		seconds = `extract(epoch FROM max(due) - min(due))`
	}
	f.want(0, `SELECT count(*) FROM (SELECT task_id FROM periodic_tick GROUP BY task_id HAVING count(*) <> `+seconds+` + 1) AS gaps`)
	f.want(0, `SELECT count(*) FROM periodic_tick WHERE decision <> 'submitted'`)
	f.want(0, `SELECT count(*) FROM periodic_tick AS k WHERE (SELECT count(*) FROM job WHERE tracker = k.task_id AND due = k.due) <> 1`)
	f.want(f.one(`SELECT count(*) FROM periodic_tick`), `SELECT count(*) FROM job`)
	f.guarantees()
}
