package main

import "time"

// The names of sides.
const (
	nextrun       = "nextrun"
	oneStatement  = "one statement"
	twoStatements = "two statements"
	plainSQL      = "plain SQL"
	riverSide     = "River"
	dbosSide      = "DBOS Transact"
	graphileSide  = "Graphile Worker"
	pgbossSide    = "pg-boss"
	snapshot      = "beside an old snapshot"
	emptyDatabase = "an empty database"
)

func atMost(limit float64) aim  { return aim{limit: limit} }
func atLeast(limit float64) aim { return aim{limit: limit, least: true} }
func below(limit float64) aim   { return aim{limit: limit, alone: true} }

// groups are all that is measured.
func (b *bench) groups() []group { //nolint:funlen // a table
	river := self("river", "burst")
	return append([]group{
		{
			name: "burst-1000-postgresql", rounds: 9,
			sides: []side{{nextrun, b.burst(1_000, 1)}, {oneStatement, b.plainBurst(1_000)}, {riverSide, b.peerBurst(1_000, time.Second, "river_job", river)}},
			figures: []figure{
				{"1,000 tasks due at once, first job committed", "ms", firstJob, "", "", below(10)},
				{"1,000 tasks, all jobs committed", "ms", allJobs, "", oneStatement, atMost(1.6)},
				{"the same", "ms", allJobs, "", riverSide, aim{}},
			},
		},
		{
			name: "burst-10000-postgresql", rounds: 5,
			sides: []side{
				{nextrun, b.burst(10_000, 1)}, {oneStatement, b.plainBurst(10_000)}, {riverSide, b.peerBurst(10_000, time.Second, "river_job", river)},
				{"2 schedulers", b.burst(10_000, 2)}, {"4 schedulers", b.burst(10_000, 4)}, {"8 schedulers", b.burst(10_000, 8)},
			},
			figures: []figure{
				{"10,000 tasks due at once, first job committed", "ms", firstJob, "", "", below(10)},
				{"10,000 tasks, all jobs committed", "ms", allJobs, "", riverSide, atMost(0.7)},
				{"the same", "ms", allJobs, "", oneStatement, atMost(1.4)},
				{"the same, 2 schedulers, beside one", "ms", allJobs, "2 schedulers", nextrun, atMost(1.3)},
				{"the same, 4 schedulers, beside one", "ms", allJobs, "4 schedulers", nextrun, atMost(1.3)},
				{"the same, 8 schedulers, beside one", "ms", allJobs, "8 schedulers", nextrun, atMost(1.3)},
				{"peak memory of the scheduler for 10,000 tasks", "MiB", peakMemory, "", "", aim{}},
			},
		},
		{
			name: "burst-100000-postgresql", rounds: 3,
			sides: []side{{nextrun, b.burst(100_000, 1)}, {oneStatement, b.plainBurst(100_000)}},
			figures: []figure{
				{"100,000 tasks due at once, first job committed", "ms", firstJob, "", "", below(10)},
				{"100,000 tasks, all jobs committed", "ms", allJobs, "", oneStatement, atMost(1.6)},
				{"peak memory of the scheduler for 100,000 tasks", "MiB", peakMemory, "", "", aim{}},
			},
		},
		{
			name: "burst-sqlite", rounds: 5,
			sides: []side{{nextrun, inProcess(runBurst)}, {twoStatements, inProcess(runPlainBurst)}},
			figures: []figure{
				{"10,000 tasks due at once on SQLite, first job committed", "ms", firstJob, "", "", below(10)},
				{"10,000 tasks on SQLite, all jobs committed", "ms", allJobs, "", twoStatements, atMost(1.4)},
			},
		},
		{
			name: "steady-postgresql", rounds: 3, sides: []side{{nextrun, b.steadyOurs}, {riverSide, b.steadyRiver}},
			figures: []figure{
				{"10,000 tasks between one second and one hour, ticks", "a second", ticksSecond, "", riverSide, aim{}},
				{"processor time of the server for a tick", "µs", cpuServer, "", riverSide, below(45)},
				{"processor time of the scheduler for a tick", "µs", cpuProcess, "", riverSide, aim{}},
				{"WAL for a tick", "bytes", walTick, "", riverSide, below(1250)},
				{"rows changed or deleted for a tick", "rows", deadTick, "", "", below(1.01)},
			},
		},
		{
			name: "punctual-postgresql", rounds: 3,
			sides: []side{{nextrun, b.punctual(postgres, 300)}, {"alone", b.punctual(postgres, 0)}, {snapshot, b.oldSnapshot}},
			figures: []figure{
				{"one task each second, due to committed, median", "ms", median, "alone", "", aim{}},
				{"beside 300 others and an executor, median", "ms", median, "", "", below(5)},
				{"the same, 99th percentile", "ms", late99, "", "", below(15)},
				{"the same beside an old snapshot, median", "ms", median, snapshot, nextrun, atMost(2)},
			},
		},
		{
			name: "punctual-sqlite", rounds: 3,
			sides: []side{{nextrun, b.punctual(sqlite, 300)}, {"alone", b.punctual(sqlite, 0)}},
			figures: []figure{
				{"one task each second on SQLite, due to committed, median", "ms", median, "alone", "", aim{}},
				{"beside 300 others and an executor on SQLite, median", "ms", median, "", "", aim{}},
				{"the same, 99th percentile", "ms", late99, "", "", aim{}},
			},
		},
		{
			name: "executor-postgresql", rounds: 5,
			sides: []side{{nextrun, b.executor(postgres, runJobs)}, {plainSQL, b.executor(postgres, runPlainJobs)}, {riverSide, b.riverJobs}},
			figures: []figure{
				{"jobs with an empty handler, 50 at a time, beside River with its shortest fetch cooldown", "a second", jobsRun, "", riverSide, atLeast(0.75)},
				{"the same", "a second", jobsRun, "", plainSQL, aim{}},
			},
		},
		{
			name: "executor-sqlite", rounds: 5,
			sides:   []side{{nextrun, b.executor(sqlite, runJobs)}, {plainSQL, b.executor(sqlite, runPlainJobs)}},
			figures: []figure{{"jobs with an empty handler on SQLite, 50 at a time", "a second", jobsRun, "", plainSQL, atLeast(0.6)}},
		},
		{
			name: "pickup-postgresql", rounds: 3, sides: []side{{nextrun, b.pickup(postgres)}},
			figures: []figure{{"job committed to handler begun, median", "ms", median, "", "", below(2.5)}, {"the same, 99th percentile", "ms", late99, "", "", aim{}}},
		},
		{
			name: "pickup-sqlite", rounds: 3, sides: []side{{nextrun, b.pickup(sqlite)}},
			figures: []figure{{"job committed to handler begun on SQLite, median", "ms", median, "", "", below(10)}, {"the same, 99th percentile", "ms", late99, "", "", aim{}}},
		},
	}, append(b.peerGroups(), b.millionGroups()...)...)
}
