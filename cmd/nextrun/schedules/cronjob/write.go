package cronjob

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
	"github.com/nextrun/nextrun/cmd/nextrun/schedules/convert"
	"github.com/nextrun/nextrun/periodic"
)

// manifest is a CronJob as it is written.
type manifest struct {
	APIVersion string   `yaml:"apiVersion"`
	Kind       string   `yaml:"kind"`
	Metadata   metadata `yaml:"metadata"`
	Spec       spec     `yaml:"spec"`
}

type metadata struct {
	Name string `yaml:"name"`
}

type spec struct {
	Schedule          string `yaml:"schedule"`
	TimeZone          string `yaml:"timeZone,omitempty"`
	ConcurrencyPolicy string `yaml:"concurrencyPolicy"`
	StartingDeadline  *int   `yaml:"startingDeadlineSeconds,omitempty"`
	Suspend           bool   `yaml:"suspend,omitempty"`
	JobTemplate       struct {
		Spec jobSpec `yaml:"spec"`
	} `yaml:"jobTemplate"`
}

type jobSpec struct {
	BackoffLimit   *int `yaml:"backoffLimit,omitempty"`
	ActiveDeadline int  `yaml:"activeDeadlineSeconds,omitempty"`
	Template       struct {
		Spec podSpec `yaml:"spec"`
	} `yaml:"template"`
}

type podSpec struct {
	RestartPolicy string          `yaml:"restartPolicy"`
	Containers    []containerSpec `yaml:"containers"`
}

type containerSpec struct {
	Name       string     `yaml:"name"`
	Image      string     `yaml:"image"`
	Command    []string   `yaml:"command,flow"`
	WorkingDir string     `yaml:"workingDir,omitempty"`
	Env        []variable `yaml:"env,omitempty"`
}

type variable struct {
	Name  string `yaml:"name"`
	Value string `yaml:"value"`
}

// Write implements [schedules.Kind]: one file of YAML documents.
func (Kind) Write(tasks []schedules.Export, o schedules.Options) ([]schedules.File, []schedules.Item) {
	var b bytes.Buffer
	var items []schedules.Item
	used := map[string]bool{}
	b.WriteString("# written by nextrun export cronjob\n")
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	for i := range tasks {
		item := schedules.NewExport(&tasks[i])
		if m := manifestOf(&tasks[i], o, &item, used); m != nil {
			if err := encoder.Encode(m); err != nil {
				item.Refuse(err.Error())
			}
		}
		items = append(items, item)
	}
	_ = encoder.Close() // a buffer takes it
	return []schedules.File{{Name: "cronjobs.yaml", Text: b.String()}}, items
}

var oddInName = regexp.MustCompile(`[^a-z0-9-]+`)

// maxName is the greatest length of a CronJob's name.
const maxName = 52

func manifestOf(e *schedules.Export, o schedules.Options, item *schedules.Item, used map[string]bool) *manifest {
	t := &e.Task
	p, why := e.Program()
	if why != "" {
		item.Refuse(why)
		return nil
	}
	name := oddInName.ReplaceAllString(strings.ToLower(t.ID), "-")
	name = strings.Trim(name[:min(len(name), maxName)], "-")
	if name == "" || used[name] {
		item.Refuse("its id cannot name a CronJob, or another task has that name already")
		return nil
	}
	m := &manifest{APIVersion: "batch/v1", Kind: "CronJob", Metadata: metadata{name}}
	if err := scheduleOf(t.Timer, &m.Spec, item); err != nil {
		item.Refuse(err.Error())
		return nil
	}
	used[name] = true
	if name != t.ID {
		item.Change("the CronJob is named " + name)
	}
	specOf(t, &m.Spec, item)
	if p.Image == "" {
		p.Image = o.Image
	}
	c := containerSpec{Name: "task", Image: p.Image, WorkingDir: p.Dir}
	for _, word := range p.Command {
		c.Command = append(c.Command, escape(word))
	}
	for _, pair := range p.Env {
		name, value, _ := strings.Cut(pair, "=")
		c.Env = append(c.Env, variable{name, escape(value)})
	}
	m.Spec.JobTemplate.Spec.Template.Spec = podSpec{"Never", []containerSpec{c}}
	item.Lose("deadline", "retry_limit", "retry_delay", "timeout")
	return m
}

// escape keeps $(NAME) from being expanded.
func escape(word string) string { return strings.NewReplacer("$$", "$$$$", "$(", "$$(").Replace(word) }

func scheduleOf(timer string, s *spec, item *schedules.Item) (err error) {
	if d, ok := convert.Every(timer); ok {
		s.Schedule = "@every " + d.String()
		item.Change("the interval counts from the creation of the CronJob")
		return nil
	}
	read := func(expression, zone string) (string, error) {
		timer, _, err := Timer(expression, zone)
		return timer, err
	}
	s.Schedule, s.TimeZone, err = convert.Cron(timer, "", read)
	if s.TimeZone == "UTC" {
		s.TimeZone = "Etc/UTC" // without a zone, that of the controller counts
	}
	return err
}

func specOf(t *periodic.Task, s *spec, item *schedules.Item) {
	s.Suspend = !t.Enabled
	s.ConcurrencyPolicy = map[periodic.Overlap]string{periodic.OverlapAllow: "Allow", periodic.OverlapReplace: "Replace"}[t.Overlap]
	if s.ConcurrencyPolicy == "" {
		s.ConcurrencyPolicy = "Forbid"
	}
	if t.Overlap == periodic.OverlapQueue {
		item.Change("overlap is queue: Kubernetes skips a tick while a job runs")
	}
	if t.Deadline != nil {
		seconds := int(*t.Deadline / time.Second)
		s.StartingDeadline = &seconds
	}
	switch {
	case t.Catchup == periodic.CatchupAll:
		item.Change("catchup is all: Kubernetes catches up on the newest")
	case t.Catchup == periodic.CatchupNone && t.Deadline == nil:
		seconds := max(int(t.Grace/time.Second), 10)
		s.StartingDeadline = &seconds
		item.Change(fmt.Sprintf("catchup is none: startingDeadlineSeconds is %d", seconds))
	}
	s.JobTemplate.Spec.BackoffLimit = t.RetryLimit
	s.JobTemplate.Spec.ActiveDeadline = int(t.Timeout / time.Second)
	if t.Timeout > 0 && (t.RetryLimit == nil || *t.RetryLimit > 0) {
		item.Change("timeout: activeDeadlineSeconds is for all attempts together")
	}
	if t.RetryDelay != 0 && t.RetryDelay != backoffDelay {
		item.Change("retry_delay: Kubernetes waits 10 s before the first retry")
	}
}
