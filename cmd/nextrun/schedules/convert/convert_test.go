package convert_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/cmd/nextrun/schedules/convert"
)

func read(expression, zone string) (string, error) {
	if strings.Contains(expression, "W") {
		return "", errors.New("no cron knows W")
	}
	return "CRON_TZ=" + zone + " " + strings.Replace(expression, "$", "L", 1), nil
}

func TestCron(t *testing.T) {
	t.Parallel()
	for timer, want := range map[string]string{
		"*-*-* 02:00 Europe/Berlin":         "0 2 * * * Europe/Berlin",
		"Mon..Fri 08:30,45":                 "30,45 8 * * 1-5 UTC",
		"*:0/15":                            "*/15 * * * * UTC",
		"weekly":                            "0 0 * * 1 UTC",
		"quarterly":                         "0 0 1 */3 * UTC",
		"Sat,Sun *-*-* 10..12:05":           "5 10-12 * * 0,6 UTC",
		"*-*~01 23:00":                      "0 23 $ * * UTC",
		"Mon *-*-01/2 04:00":                "0 4 */2 * 1 UTC", // the star makes both count
		"CRON_TZ=Asia/Tokyo 5 4 1,15 * sun": "5 4 1,15 * sun Asia/Tokyo",
		"0 0 * * 5-7":                       "0 0 * * 5-7 UTC",
		"@daily":                            "0 0 * * * UTC",
		"Sat *-*-1..7 18:00":                "", // cron would take one of the two
		"*-*-* 02:00:30":                    "",
		"2027-*-* 02:00":                    "",
		"0 0 15W * *":                       "",
		"*-*-* 02:00 +02:00":                "",
		"every 36h":                         "",
		"0 0 1 1 * 2030":                    "",
	} {
		expression, zone, err := convert.Cron(timer, "$", read)
		if got := strings.TrimSpace(expression + " " + zone); want != got || (want == "") != (err != nil) {
			t.Errorf("%q: got %q, %v, want %q", timer, got, err, want)
		}
	}
	if _, _, err := convert.Cron("*-*~01 23:00", "", read); err == nil {
		t.Error("the last day is written for a program that does not know it")
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	for timer, want := range map[string]string{
		"0 2 * * *": "*-*-* 02:00:00 UTC",
		"CRON_TZ=Europe/Berlin */10 8-18 * * 1-5": "Mon,Tue,Wed,Thu,Fri *-*-* 08..18:00/10:00 Europe/Berlin",
		"0 7 1,15 * mon":     "*-*-01,15 07:00:00 UTC; Mon *-*-* 07:00:00 UTC",
		"0 7 */2 * mon":      "Mon *-*-01/2 07:00:00 UTC",
		"0 7 L * *":          "*-*~01 07:00:00 UTC",
		"0 7 L * fri":        "*-*~01 07:00:00 UTC; Fri *-*-* 07:00:00 UTC",
		"Sat *-*-1..7 18:00": "Sat *-*-1..7 18:00",
		"0 7 15W * *":        "",
		"every 3h":           "",
	} {
		lines, err := convert.Events(timer)
		if got := strings.Join(lines, "; "); got != want || (want == "") != (err != nil) {
			t.Errorf("%q: got %q, %v, want %q", timer, got, err, want)
		}
	}
}

func TestIntervals(t *testing.T) {
	t.Parallel()
	for timer, want := range map[string]time.Duration{
		"every 90s": 90 * time.Second, "every 2 weeks": 14 * 24 * time.Hour, "every month": 0, "every 1h from 2026-01-05T08:00:00Z": 0, "hourly": 0,
	} {
		if d, ok := convert.Every(timer); d != want || ok != (want != 0) {
			t.Errorf("%q: %v, %v, want %v", timer, d, ok, want)
		}
	}
	for d, want := range map[time.Duration]string{
		15 * time.Minute: "*/15 * * * *", time.Hour: "0 * * * *", 6 * time.Hour: "0 */6 * * *", 24 * time.Hour: "0 0 * * *", time.Minute: "* * * * *",
		7 * time.Minute: "", 36 * time.Hour: "", 30 * time.Second: "",
	} {
		if got, ok := convert.CronInterval(d); got != want || ok != (want != "") {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
