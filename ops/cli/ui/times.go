package ui

import (
	"strconv"
	"time"

	"github.com/nextrun/nextrun/internal/text"
)

// Moment writes a time for people: in their zone, to the second.
func (env *Env) Moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(env.Zone).Format("2006-01-02 15:04:05 MST")
}

// Ago writes how far a time is away, as [text.Away] does; nothing for the zero time.
func (env *Env) Ago(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return text.Away(t, env.Now())
}

// Seconds writes a duration in whole seconds.
func Seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) + " s" }
