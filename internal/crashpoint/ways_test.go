//go:build crashpoints && linux

package crashpoint_test

import "strings"

// way is how the processes run that come to a point.
type way struct {
	mode    string // of schedulers
	foreign bool   // there is a queue that is not nextrun's own
	refuses string // how the database refuses the jobs of a task until the process has ended
	stops   bool   // the process is asked to stop
	visits  int    // how many visits to choose from; more than there are in a run do no harm
}

// ways are those that do not follow from the name of the point.
var ways = map[string]way{
	"scheduler/foreign-given":    {foreign: true},
	"scheduler/foreign-recorded": {foreign: true},
	"scheduler/open-forgotten":   {foreign: true},
	"scheduler/ends-taken":       {foreign: true},
	"scheduler/ends-recorded":    {foreign: true},
	"notify/request-next":        {foreign: true},
	"notify/answered":            {foreign: true},
	"scheduler/part-committed":   {refuses: "error"},
	"scheduler/blamed":           {refuses: "error"},
	"scheduler/ticks-refused":    {refuses: "silence"},
	"scheduler/stopped":          {stops: true},
	"executor/stopping":          {stops: true},
	"executor/put-back":          {stops: true},
	"worker/gone":                {stops: true},
	"database/begun":             {visits: 60},
	"database/commit-next":       {visits: 60},
	"database/commit-done":       {visits: 60},
	"database/statement-next":    {visits: 300},
	"database/statement-done":    {visits: 300},
	"lock/released":              {stops: true},
	"lock/free":                  {stops: true},
}

func wayTo(point string) way {
	w := ways[point]
	w.mode = "shared"
	if strings.HasPrefix(point, "lock/") {
		w.mode = "leader"
	}
	if w.visits == 0 && !w.stops {
		w.visits = 5
	}
	return w
}
