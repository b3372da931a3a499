// Package cronjob reads and writes CronJobs of Kubernetes: manifests, and the lists
// that `kubectl get cronjobs -o yaml` or -o json prints.
package cronjob

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
)

// Kind is the format of CronJobs.
type Kind struct{}

// Name implements [schedules.Kind].
func (Kind) Name() string { return "cronjob" }

// Read implements [schedules.Kind]. A directory stands for its files *.yaml, *.yml and
// *.json.
func (Kind) Read(paths []string, o schedules.Options) (items []schedules.Item, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if path != "-" && err == nil && info.IsDir() {
			more, err := readDirectory(path, o)
			if err != nil {
				return nil, err
			}
			items = append(items, more...)
			continue
		}
		text, err := schedules.ReadFile(path, o)
		if err != nil {
			return nil, err
		}
		items = append(items, Parse(path, text, o)...)
	}
	return items, nil
}

func readDirectory(dir string, o schedules.Options) (items []schedules.Item, err error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range list {
		if f.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(f.Name())) {
			continue
		}
		path := filepath.Join(dir, f.Name())
		text, err := schedules.ReadFile(path, o)
		if err != nil {
			items = append(items, schedules.Unreadable(path, err))
			continue
		}
		items = append(items, Parse(path, text, o)...)
	}
	return items, nil
}

// Parse reads YAML documents, or JSON. path is the name of the file in the report.
func Parse(path, text string, o schedules.Options) []schedules.Item {
	r := &reader{path: path, options: o}
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return r.items
		}
		if err != nil {
			r.add(schedules.Item{Source: "document", Refused: strings.TrimPrefix(err.Error(), "yaml: "), Line: lineOf(err)})
			return r.items // what follows cannot be told from it
		}
		if len(document.Content) == 0 {
			continue
		}
		root := node{document.Content[0]}
		if root.weight(map[*yaml.Node]int{}) > maxWeight {
			r.add(schedules.Item{Line: root.line(), Source: "document", Refused: "its aliases make too much of it, or contain themselves"})
			continue
		}
		if r.object(root); len(r.items) >= schedules.MaxItems {
			r.add(schedules.TooMany("", root.line()))
			return r.items
		}
	}
}

// lineOf is the line that an error of the decoder names, 0 if none.
func lineOf(err error) (line int) {
	_, _ = fmt.Sscanf(err.Error(), "yaml: line %d:", &line) // otherwise it is 0
	return line
}

// reader collects the items of a file.
type reader struct {
	path    string
	options schedules.Options
	items   []schedules.Item
}

func (r *reader) add(item schedules.Item) {
	item.File = r.path
	r.items = append(r.items, item)
}

// object reads a CronJob, or a list of objects. Other objects, with which CronJobs
// share their files, are passed over with a note.
func (r *reader) object(n node) {
	if !n.is(yaml.MappingNode) {
		r.add(schedules.Item{Line: n.line(), Source: "document", Refused: "it is no object of Kubernetes"})
		return
	}
	kind, name := n.get("kind").text(), n.get("metadata").get("name").text()
	switch {
	case kind == "List" || kind == "CronJobList":
		for _, item := range n.get("items").list() {
			if kind == "CronJobList" && item.get("kind").text() == "" {
				r.cronJob(item)
				continue
			}
			r.object(item)
		}
	case kind == "CronJob":
		r.cronJob(n)
	default:
		r.add(schedules.Item{Line: n.line(), Source: schedules.Shorten(strings.TrimSpace(kind + " " + name)), Changed: []string{"passed over: it is no CronJob"}})
	}
}
