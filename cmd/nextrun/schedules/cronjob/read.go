package cronjob

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/cmd/nextrun/config"
	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
	"github.com/nextrun/nextrun/jobqueue/handlers"
	"github.com/nextrun/nextrun/periodic"
)

// Settings of a CronJob and of its job that are carried over, or that say nothing
// about what runs.
var (
	specKeys = []string{"schedule", "timeZone", "startingDeadlineSeconds", "concurrencyPolicy", "suspend", "jobTemplate", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"}
	jobKeys  = []string{"template", "backoffLimit", "activeDeadlineSeconds", "parallelism", "completions", "ttlSecondsAfterFinished", "completionMode", "suspend", "manualSelector", "selector", "podReplacementPolicy"}
)

// cronJob reads a CronJob.
func (r *reader) cronJob(n node) {
	name, namespace := n.at("metadata", "name").text(), n.at("metadata", "namespace").text()
	title := strings.TrimPrefix(namespace+"/"+name, "/")
	item := schedules.Item{Line: n.line(), Source: schedules.Shorten("CronJob " + title)}
	defer func() { r.add(item) }()
	spec := n.get("spec")
	if name == "" || !spec.is(yaml.MappingNode) {
		item.Refused = "it has no name, or no spec"
		return
	}
	if err := schedules.CheckText(title); err != nil {
		item.Refused = err.Error()
		return
	}
	task := periodic.NewTask("", "", "")
	if !r.timer(spec, &task, &item) || !policies(spec, &task, &item) {
		return
	}
	job := spec.at("jobTemplate", "spec")
	if !limits(job, &task, &item) {
		return
	}
	c := container(job.at("template", "spec"), &item)
	task.Summary = schedules.Shorten(strings.TrimSuffix(title+": "+c.summary(), ": "))
	names := []string{schedules.Name(name)}
	if namespace != "" {
		names = append(names, schedules.Name(namespace+"-"+name))
	}
	e := &schedules.Entry{Names: names, Origin: schedules.NewOrigin(r.options.Host, r.path), Shares: "", Task: task, Payload: c.payload()}
	if len(c.argv) > 0 {
		e.Handler = &config.Handler{Command: &handlers.CommandConfig{Argv: c.argv, Env: c.env, Dir: c.dir}}
	} else {
		item.Change(fmt.Sprintf("the program is that of the image %q: write a handler for it", c.image))
	}
	item.Entry = e
}

// timer reads schedule and timeZone.
func (r *reader) timer(spec node, task *periodic.Task, item *schedules.Item) bool {
	schedule, zone := strings.Join(strings.Fields(spec.get("schedule").text()), " "), spec.get("timeZone").text()
	item.Source = schedules.Shorten(item.Source + ": " + schedule)
	if strings.Contains(schedule, "TZ=") {
		item.Refused = "Kubernetes refuses TZ= and CRON_TZ= in a schedule; use timeZone"
		return false
	}
	switch {
	case zone == "":
		zone = r.options.Zone
	case strings.EqualFold(zone, "Local"):
		item.Refused = "Kubernetes refuses the zone Local"
		return false
	}
	timer, change, err := Timer(schedule, zone)
	if err != nil {
		item.Refused = err.Error()
		return false
	}
	if change != "" {
		item.Change(change)
	}
	task.Timer = timer
	return true
}

// policies reads what is to happen with jobs that overlap, are late or are suspended.
func policies(spec node, task *periodic.Task, item *schedules.Item) bool {
	switch policy := spec.get("concurrencyPolicy").text(); policy {
	case "", "Allow":
		task.Overlap = periodic.OverlapAllow
	case "Forbid":
		task.Overlap = periodic.OverlapSkip
	case "Replace":
		task.Overlap = periodic.OverlapReplace
	default:
		item.Refused = fmt.Sprintf("concurrencyPolicy is %q; Kubernetes knows Allow, Forbid and Replace", policy)
		return false
	}
	if n := spec.get("startingDeadlineSeconds"); n.isSet() {
		seconds, ok := n.integer()
		if !ok || seconds < 0 || seconds > math.MaxInt32 {
			item.Refused = fmt.Sprintf("startingDeadlineSeconds is %q; use a whole number", n.text())
			return false
		}
		deadline := time.Duration(seconds) * time.Second
		task.Deadline = &deadline
	}
	switch suspend := spec.get("suspend").text(); suspend {
	case "", "false":
	case "true":
		task.Enabled = false
	default:
		item.Refused = fmt.Sprintf("suspend is %q; use true or false", suspend)
		return false
	}
	for _, key := range []string{"successfulJobsHistoryLimit", "failedJobsHistoryLimit"} {
		if n := spec.get(key); n.isSet() && n.text() != "3" && n.text() != "1" {
			item.Change(key + ": nextrun keeps jobs for a time, not by their number (housekeeping)")
		}
	}
	unknown(spec, specKeys, "spec", item)
	return true
}

// defaultBackoff is how often Kubernetes tries a job again by default, and its first
// delay.
const (
	defaultBackoff = 6
	backoffDelay   = 10 * time.Second
	longestTimeout = 365 * 24 * time.Hour
)

// limits reads how often and how long a job is tried.
func limits(job node, task *periodic.Task, item *schedules.Item) bool {
	retries := defaultBackoff
	if n := job.get("backoffLimit"); n.isSet() {
		var ok bool
		if retries, ok = n.integer(); !ok || retries < 0 {
			item.Refused = fmt.Sprintf("backoffLimit is %q; use a whole number", n.text())
			return false
		}
	}
	retries = min(retries, 1_000_000)
	task.RetryLimit = &retries
	if retries > 0 {
		task.RetryDelay = backoffDelay
	}
	if n := job.get("activeDeadlineSeconds"); n.isSet() {
		seconds, ok := n.integer()
		if !ok || seconds <= 0 {
			item.Refused = fmt.Sprintf("activeDeadlineSeconds is %q; use a whole number", n.text())
			return false
		}
		task.Timeout = min(time.Duration(min(seconds, math.MaxInt32))*time.Second, longestTimeout)
		if retries > 0 {
			item.Change("activeDeadlineSeconds: the timeout is for each attempt, not for all of them together")
		}
	}
	for _, key := range []string{"parallelism", "completions"} {
		if n := job.get(key); n.isSet() && n.text() != "1" {
			item.Change(key + ": a tick has one job")
		}
	}
	unknown(job, jobKeys, "the job's spec", item)
	return true
}

// unknown names the keys that have no equivalent.
func unknown(n node, known []string, place string, item *schedules.Item) {
	var list []string
	for _, key := range n.keys() {
		if !slices.Contains(known, key) && n.get(key).isSet() {
			list = append(list, schedules.Shorten(key))
		}
	}
	if len(list) > 0 {
		item.Change(fmt.Sprintf("of %s not carried over: %s", place, strings.Join(list, ", ")))
	}
}
