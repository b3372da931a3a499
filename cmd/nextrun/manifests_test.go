package main_test

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The manifests for Kubernetes start commands that there are, with their flags.
func TestManifests(t *testing.T) {
	t.Parallel()
	n := 0
	for text := range strings.SplitSeq(readFile(t, "../../dist/kubernetes/nextrun.yaml"), "\n---\n") {
		var m struct {
			Spec struct {
				Template struct {
					Spec struct{ Containers []struct{ Args []string } }
				}
			}
		}
		if err := yaml.Unmarshal([]byte(text), &m); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		for _, c := range m.Spec.Template.Spec.Containers {
			n++
			help := helpOf(t, strings.Join(c.Args, " "))
			for _, arg := range c.Args {
				if strings.HasPrefix(arg, "--") && !strings.Contains(help, arg) {
					t.Errorf("%q: there is no flag %s", c.Args, arg)
				}
			}
		}
	}
	if n != 3 {
		t.Errorf("found %d containers", n)
	}
}
