package main_test

import (
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// manifest is the part of a Deployment or a Job that has to fit the program.
type manifest struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct{ Name string }
	Spec       struct {
		Selector struct {
			MatchLabels map[string]string `yaml:"matchLabels"`
		}
		Template struct {
			Metadata struct{ Labels map[string]string }
			Spec     struct {
				Containers []struct {
					Args         []string
					Ports        []struct{ Name string }
					Env          []struct{ Name string }
					VolumeMounts []struct {
						Name string
						Path string `yaml:"mountPath"`
					} `yaml:"volumeMounts"`
					Readiness struct {
						HTTPGet struct{ Path, Port string } `yaml:"httpGet"`
					} `yaml:"readinessProbe"`
				}
				Volumes []struct{ Name string }
			}
		}
	}
}

// The manifests for Kubernetes start commands that there are, with their flags, and
// their parts refer to each other.
func TestManifests(t *testing.T) {
	t.Parallel()
	versions := map[string]string{"Deployment": "apps/v1", "Job": "batch/v1"}
	n := 0
	for text := range strings.SplitSeq(readFile(t, "../../dist/kubernetes/nextrun.yaml"), "\n---\n") {
		var m manifest
		if err := yaml.Unmarshal([]byte(text), &m); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if versions[m.Kind] == "" {
			continue
		}
		n++
		pod := m.Spec.Template
		if m.APIVersion != versions[m.Kind] || m.Metadata.Name == "" || len(pod.Spec.Containers) != 1 {
			t.Fatalf("%+v is no manifest", m)
		}
		for key, value := range m.Spec.Selector.MatchLabels {
			if pod.Metadata.Labels[key] != value {
				t.Errorf("%s does not select its pods", m.Metadata.Name)
			}
		}
		c := pod.Spec.Containers[0]
		if len(c.Env) == 0 || c.Env[0].Name != "NEXTRUN_DB_FILE" {
			t.Errorf("%s has no database", m.Metadata.Name)
		}
		help := helpOf(t, strings.Join(c.Args, " "))
		for _, arg := range c.Args {
			if strings.HasPrefix(arg, "--") && !strings.Contains(help, arg) {
				t.Errorf("%s: there is no flag %s", m.Metadata.Name, arg)
			}
		}
		for _, mount := range c.VolumeMounts {
			if !slices.Contains(pod.Spec.Volumes, struct{ Name string }{mount.Name}) || mount.Name == "config" && !slices.Contains(c.Args, mount.Path+"/nextrun.yaml") {
				t.Errorf("%s does not read what it mounts at %s", m.Metadata.Name, mount.Path)
			}
		}
		if probe := c.Readiness.HTTPGet; m.Kind == "Deployment" && (probe.Path != "/healthz" || c.Ports[0].Name != probe.Port) {
			t.Errorf("%s has the probe %+v", m.Metadata.Name, probe)
		}
	}
	if n != 3 {
		t.Errorf("found %d manifests", n)
	}
}
