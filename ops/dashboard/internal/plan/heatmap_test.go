package plan

import (
	"testing"
	"time"
)

// Hours that show the same number have the same colour, and hours that are as busy are all named.
func TestColoursFollowTheNumbers(t *testing.T) {
	t.Parallel()
	const percentOfHour = time.Hour / 100
	var d heatView
	for i := range hourOfWeek(hoursOfWeek) {
		*d.hour(i) = heatHour{Ticks: 1, work: 17 * percentOfHour}
	}
	d.Places = 1
	d.measure()
	if got := d.Class(*d.hour(0)); got != "h1" {
		t.Errorf("of a week that is always the same: %s", got)
	}
	for i := range hourOfWeek(7) {
		d.hour(24*i + 2).work += time.Duration(240+i) * percentOfHour / 10 // from 41.0 to 41.6 %
	}
	d.hour(5).work, d.hour(6).work = 346*percentOfHour/10, 354*percentOfHour/10
	d.measure()
	for _, i := range []hourOfWeek{5, 6} {
		if h := d.hour(i); h.Percent() != "35" || d.Class(*h) != "h3" {
			t.Errorf("%s %% is %s, of %+v", h.Percent(), d.Class(*h), d.Steps())
		}
	}
	if got := d.Busiest(); got != "Saturday 02:00, Sunday 02:00" { // the others are 41
		t.Errorf("the busiest: %s", got)
	}
	for i := range hourOfWeek(2) {
		d.hour(24*(i+5) + 2).work -= 2 * percentOfHour / 10
	}
	d.measure()
	if got := d.Busiest(); got != "02:00 every day" {
		t.Errorf("the busiest: %s", got)
	}
}
