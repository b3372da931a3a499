package originals

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/nextrun/nextrun/cmd/nextrun/schedules/cronjob"
)

// inKubernetes is how its controller reads the schedule of a CronJob: by this library, with
// the zone in front, and refusing one that names a zone itself.
func inKubernetes(schedule, zone string) (cron.Schedule, error) {
	return cron.ParseStandard("TZ=" + zone + " " + schedule)
}

var ofKubernetes = []string{
	"@every 1h30m", "@every 36h", "@every 90s", "@every 0s", "@every x", "@yearly", "@annually", "@Daily", "@reboot",
	"0 0 ? * *", "0 0 * * ?", "0 0 ?/2 * 1", "0 0 */2 * */2", "5/15 * * * *", "0 3/6 * * *", "0 0 10/7 * *", "0 0 * * 1/2",
}

// Kubernetes takes and refuses the same schedules, and they elapse at the same times. Local
// times that a change of the clock skips are the exception.
func TestKubernetes(t *testing.T) {
	counts := newTally("Kubernetes")
	for _, zone := range []string{"Etc/UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "America/Santiago"} {
		for i, schedule := range append(expressions(300), ofKubernetes...) {
			timer, _, err := cronjob.Timer(schedule, zone)
			original, refused := inKubernetes(schedule, zone)
			if reason := oddities(schedule); err != nil && refused == nil && reason != "" {
				counts.excepted[reason]++
				continue
			}
			if !counts.refusal(t, schedule, err, refused) {
				continue
			}
			if len(timer) > 6 && timer[:6] == "every " {
				continue // it counts from the creation
			}
			compareKubernetes(t, counts, schedule, timer, original, time.Date(2026, time.Month(1+i%12), 1+i%28, i%24, i%60, 0, 0, time.UTC))
		}
	}
	counts.log(t)
}

func compareKubernetes(t *testing.T, counts *tally, schedule, timer string, original cron.Schedule, from time.Time) {
	t.Helper()
	p := []period{{from, from.AddDate(1, 0, 0)}}
	var theirs []time.Time
	for at := original.Next(begin(p[0])); !at.IsZero() && at.Before(p[0].to) && len(theirs) < 1000; at = original.Next(at) {
		theirs = append(theirs, at.UTC())
	}
	if len(theirs) == 1000 {
		p[0].to = theirs[999].Add(time.Second)
	}
	ours := elapses(t, timer, p)
	onlyOurs, onlyTheirs := difference(ours, theirs)
	const excepted = "near a change of the clock: Kubernetes leaves a local time out, or repeats one, or takes the next day for the same"
	for _, at := range append(onlyOurs, onlyTheirs...) {
		if !changesNear(t, timer, at, 24*time.Hour) {
			counts.same(t, schedule, ours, theirs)
			return
		}
		counts.excepted[excepted]++
	}
	counts.elapses += len(theirs)
}

var oddItem = regexp.MustCompile(`[*?]-|\+`)

// oddities are what Kubernetes takes in a schedule although it means nothing.
func oddities(schedule string) string {
	for field := range strings.FieldsSeq(schedule) {
		if strings.Trim(field, ",") == "" {
			return "Kubernetes takes a field without a value, and never elapses; nextrun refuses it"
		}
	}
	if oddItem.MatchString(schedule) {
		return "Kubernetes takes a range from * and a number with a plus; nextrun refuses them"
	}
	return ""
}
