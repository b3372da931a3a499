// Vulndb takes from a checkout of https://github.com/golang/vulndb the entries about
// Go itself and the modules of this one, and writes them to a file from which
// scripts/vulnerabilities works where there is no network. The entries are
// those of the Go vulnerability database, licensed under CC-BY 4.0.
//
//	go run ./scripts/vulndb ../vulndb
//
// A second argument is the time of the checkout, if git cannot tell it.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const target = "testdata/vulndb.tar.gz"

// entry is what is read of a file of the database, in the format of osv.dev.
type entry struct {
	ID       string    `json:"id"`
	Modified time.Time `json:"modified"`
	Affected []struct {
		Package struct {
			Name string `json:"name"`
		} `json:"package"`
		Ranges []struct {
			Events []struct {
				Fixed string `json:"fixed"`
			} `json:"events"`
		} `json:"ranges"`
	} `json:"affected"`
}

// The index of the database: https://go.dev/security/vuln/database.
type (
	module struct {
		Path  string `json:"path"`
		Vulns []vuln `json:"vulns"`
	}
	vuln struct {
		ID       string    `json:"id"`
		Modified time.Time `json:"modified"`
		Fixed    string    `json:"fixed,omitempty"`
	}
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./scripts/vulndb CHECKOUT [TIME]")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2:]...); err != nil {
		fmt.Fprintln(os.Stderr, "vulndb:", err)
		os.Exit(1)
	}
}

func run(checkout string, given ...string) error {
	wanted, err := output("go", "list", "-m", "-f", "{{.Path}}", "all")
	if err != nil {
		return err
	}
	date := strings.Join(given, " ")
	if date == "" {
		if date, err = output("git", "-C", checkout, "log", "-1", "--format=%cI"); err != nil {
			return err
		}
	}
	files, err := filepath.Glob(filepath.Join(checkout, "data", "osv", "*.json"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no entries in %s/data/osv: %w", checkout, err)
	}
	index := map[string][]vuln{}
	packed := map[string][]byte{}
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // the checkout that the caller names
		if err != nil {
			return err
		}
		var e entry
		if err := json.Unmarshal(text, &e); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if e.add(index, append(strings.Fields(wanted), "stdlib", "toolchain")) {
			packed["ID/"+e.ID+".json"] = text
		}
	}
	return write(packed, index, strings.TrimSpace(date))
}

// add notes in the index which of the wanted modules an entry is about.
func (e entry) add(index map[string][]vuln, wanted []string) (found bool) {
	for _, a := range e.Affected {
		if !slices.Contains(wanted, a.Package.Name) {
			continue
		}
		v := vuln{ID: e.ID, Modified: e.Modified}
		for _, r := range a.Ranges {
			for _, event := range r.Events {
				v.Fixed = event.Fixed // the last one
			}
		}
		index[a.Package.Name] = append(index[a.Package.Name], v)
		found = true
	}
	return found
}

func write(packed map[string][]byte, index map[string][]vuln, date string) error {
	var modules []module
	for path, vulns := range index {
		modules = append(modules, module{path, vulns})
	}
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	var err error
	if packed["index/modules.json"], err = json.Marshal(modules); err != nil {
		return err
	}
	if packed["index/db.json"], err = json.Marshal(map[string]string{"modified": date}); err != nil {
		return err
	}
	var names []string
	for name := range packed {
		names = append(names, name)
	}
	slices.Sort(names) // the same entries give the same file
	var text bytes.Buffer
	compressed, _ := gzip.NewWriterLevel(&text, gzip.BestCompression)
	archive := tar.NewWriter(compressed)
	for _, name := range names {
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(packed[name]))}); err != nil {
			return err
		}
		if _, err := archive.Write(packed[name]); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	if err := compressed.Close(); err != nil {
		return err
	}
	fmt.Printf("%s: %d entries about %d modules, of %s, %d KB\n", target, len(names)-2, len(modules), date, text.Len()/1000)
	return os.WriteFile(target, text.Bytes(), 0o644) //nolint:gosec // for everybody
}

func output(name string, args ...string) (string, error) {
	text, err := exec.Command(name, args...).Output() //nolint:gosec // git and go
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return string(text), nil
}
