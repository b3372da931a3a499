package attention

import "testing"

func TestOf(t *testing.T) {
	t.Parallel()
	names := map[rune]string{'.': "success", 'f': "failed", 'm': "missed", 's': Skipped, 'p': "skipped", 'r': "running"}
	for newest, want := range map[string]string{
		"..........": "",
		".ff.f.f.f.": "5 of its last 10 runs failed",
		".fm":        "",
		".fmf":       "3 of its last 4 runs failed or did not take place",
		"rrr.fff":    "3 of its last 4 runs failed",
		"...fffffff": "", // it has recovered
		"..ffffffff": "8 of its last 10 runs failed",
		"....fff...": "",
		".s.s.s.s.s": "5 of its last 10 ticks were skipped, because the job before had not ended",
		"r.ssss....": "", // one long run
		"ss.ss.....": "4 of its last 10 ticks were skipped, because the job before had not ended",
		"ssssssssss": "", // one run that goes on
		"....s.s.s.": "", // it has recovered
		"...s.s.s.s": "",
		".p.p.p.p.p": "", // it is paused
	} {
		var states []string
		for _, r := range newest {
			states = append(states, names[r])
		}
		if got := Of(states); got != want {
			t.Errorf("%s: %q, want %q", newest, got, want)
		}
	}
}
