package periodic_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/storetest"
	"github.com/nextrun/nextrun/internal/storetest/migrated"
	"github.com/nextrun/nextrun/store/verify"
)

// The chaos: many contenders for one lock, each a process, to which things
// happen. NEXTRUN_SOAK_LOCK_ROUNDS and NEXTRUN_SOAK_LOCK_CONTENDERS make it longer.
const (
	chaosContenders = 10
	chaosRounds     = 40
	chaosTTL        = 1500 * time.Millisecond
	chaosTasks      = 10
)

// chaos is a run of the test on one database.
type chaos struct {
	*fixture
	step       func(time.Duration)
	clock      string // file
	contenders []*process
	begun      int
	happened   map[string]int
}

// The tests kill, stop, and release leaders at random and step the database's
// clock. At no time do two processes submit with one token, tokens only rise, and no
// tick is lost or doubled.
//
// They take longer than all others. Each is a test of its own, since Go
// would begin the subtests of one after all other tests.
func TestLockSurvivesChaosOnPostgres(t *testing.T) { newPostgresFixture(t).chaos() }

func TestLockSurvivesChaosOnSQLite(t *testing.T) { newSQLiteFixture(t).chaos() }

func (f *fixture) chaos() {
	c := &chaos{fixture: f, clock: filepath.Join(f.TempDir(), "step"), happened: map[string]int{}}
	c.step = f.stepDatabaseClock(c.clock)
	f.auditLock()
	for i := range chaosTasks {
		f.exec(`INSERT INTO periodic_task (id, task, timer, overlap, catchup) VALUES (?, 't', '*-*-* *:*:*', 'allow', 'all')`,
			fmt.Sprint("every-second-", i))
	}
	f.Cleanup(c.end)
	for range soakNumber("NEXTRUN_SOAK_LOCK_CONTENDERS", chaosContenders) {
		c.contenders = append(c.contenders, c.start())
	}
	c.await("the first ticks", `SELECT count(*) FROM periodic_tick`)
	rounds := soakNumber("NEXTRUN_SOAK_LOCK_ROUNDS", chaosRounds)
	for range rounds {
		c.round()
		elapse(rand.N(chaosTTL / 5)) // the pace of misfortune
	}
	c.settle()
	f.auditTerms()
	f.auditTicks()
	migrated.Verify(f, f.db, verify.Options{})
	terms := f.one(`SELECT count(DISTINCT token) FROM audit_tick`)
	f.Logf("%d rounds %v: %s terms with ticks, %s ticks", rounds, c.happened, terms, f.one(`SELECT count(*) FROM periodic_tick`))
}

func (c *chaos) start() *process {
	c.begun++
	return startContender(c, c.URL, fmt.Sprintf("c%d", c.begun), c.clock, chaosTTL, c.begun%4 > 0)
}

// round lets something happen to somebody: to the holder of the lock, mostly.
func (c *chaos) round() {
	victim := rand.N(len(c.contenders))
	if holder := c.holder(); holder >= 0 && rand.N(3) > 0 {
		victim = holder
	}
	p := c.contenders[victim]
	switch n := rand.N(10); {
	case n < 3:
		c.happened["killed"]++
		p.kill()
		c.contenders[victim] = c.start()
	case n < 6 && p.rested():
		c.happened["paused"]++
		p.pause(rand.N(3 * chaosTTL))
	case n < 7 && p.rested():
		c.happened["left"]++
		p.leave()
		c.contenders[victim] = c.start()
	case n < 8:
		c.happened["released by force"]++
		c.patient(`UPDATE scheduler_lock SET expires = '1970-01-01 00:00:00.000000'`)
	default:
		c.happened["clock stepped"]++
		c.step(rand.N(4*chaosTTL) - 2*chaosTTL)
	}
}

func elapse(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // other processes have the real clock

// patient runs a statement although a stopped process may hold up writers; it
// may come to nothing.
func (c *chaos) patient(statement string) {
	if _, err := c.SQL.Exec(statement); err != nil {
		c.Logf("not done: %v", err)
	}
}

// holder is the contender that the row names, or -1.
func (c *chaos) holder() int {
	pid := c.one(`SELECT pid FROM scheduler_lock`)
	for i, p := range c.contenders {
		if fmt.Sprint(p.pid()) == pid {
			return i
		}
	}
	return -1
}

// settle ends the pauses and waits until every task has its tick of now. It kills most of the
// contenders before, since on a slow machine so many leave no leader the time for its work.
func (c *chaos) settle() {
	for i, p := range c.contenders {
		if i >= 3 {
			p.kill()
		}
		p.resumed()
	}
	c.step(2 * chaosTTL) // no earlier than any time that was
	end := utc(time.Now().Add(2 * chaosTTL))
	c.await("the ticks of now", `SELECT count(*) = `+fmt.Sprint(chaosTasks)+` FROM (
		SELECT task_id FROM periodic_tick GROUP BY task_id HAVING max(due) >= '`+end+`') AS done`)
}

// await waits until a query says other than 0 or false.
func (c *chaos) await(what, query string) {
	c.Helper()
	for limit := time.Now().Add(storetest.Patience); time.Now().Before(limit); elapse(50 * time.Millisecond) {
		if value := c.one(query); value != "0" && value != "false" {
			return
		}
	}
	for _, p := range c.contenders {
		p.kill()
		c.Logf("%s:\n%s", p.name, p.said)
	}
	c.Fatalf("%s did not come", what)
}

// end kills who is left.
func (c *chaos) end() {
	for _, p := range c.contenders {
		p.kill()
		p.resumed()
		if p.raced() {
			c.Errorf("%s:\n%s", p.name, p.said)
		}
	}
}
