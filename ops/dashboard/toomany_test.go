package dashboard

import (
	"testing"

	"github.com/nextrun/nextrun/periodic"
)

// Ticks that are too many to be counted are named without a number.
func TestTicksThatAreTooMany(t *testing.T) {
	t.Parallel()
	list := tickList{Decision: periodic.NotRun}
	if got := list.Title(); got != "Ticks that did not run" || list.Number(periodic.NotRun) != -1 {
		t.Errorf("the title is %q, and they are %d", got, list.Number(periodic.NotRun))
	}
	if got := (&nowView{}).LeftOut(); got != "Ticks that did not run" {
		t.Errorf("the first page says %q", got)
	}
}
