package kubernetes

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

const (
	chartDir  = "../../dist/helm/nextrun"
	manifests = "../../dist/kubernetes/nextrun.yaml"
)

var update = flag.Bool("update", false, "write dist/kubernetes/nextrun.yaml anew")

// serviceMonitor is what of the Prometheus operator's type the chart uses.
type serviceMonitor struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Selector  metav1.LabelSelector `json:"selector"`
		Endpoints []struct {
			Port     string `json:"port"`
			Interval string `json:"interval"`
		} `json:"endpoints"`
	} `json:"spec"`
}

// renderFiles are the files of the chart with values, by their names.
func renderFiles(values string) (map[string]string, error) {
	chart, err := loader.Load(chartDir)
	if err != nil {
		return nil, err
	}
	var given map[string]any
	if err := yaml.UnmarshalStrict([]byte(values), &given); err != nil {
		return nil, err
	}
	release := chartutil.ReleaseOptions{Name: "nextrun", Namespace: "default", Revision: 1, IsInstall: true}
	all, err := chartutil.ToRenderValues(chart, given, release, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	return engine.Render(chart, all)
}

// render is the chart with values, as `helm template nextrun` prints it.
func render(values string) (string, error) {
	files, err := renderFiles(values)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	// The tables come before what needs them, the configuration before both.
	for _, name := range []string{"config", "migrate", "scheduler", "executor", "relay", "dashboard", "metrics"} {
		if content := strings.TrimSpace(files["nextrun/templates/"+name+".yaml"]); content != "" {
			fmt.Fprintf(&text, "---\n%s\n", strings.TrimPrefix(content, "---\n"))
		}
	}
	return text.String(), nil
}

// objects are the rendered objects by kind and name, of which no field is unknown.
func objects(t *testing.T, text string) map[string]any {
	t.Helper()
	found := map[string]any{}
	for document := range strings.SplitSeq(text, "---\n") {
		if strings.TrimSpace(document) == "" {
			continue
		}
		var head metav1.PartialObjectMetadata
		if err := yaml.Unmarshal([]byte(document), &head); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		object := map[string]any{
			"v1 ConfigMap": &corev1.ConfigMap{}, "v1 Service": &corev1.Service{}, "batch/v1 Job": &batchv1.Job{},
			"apps/v1 Deployment": &appsv1.Deployment{}, "policy/v1 PodDisruptionBudget": &policyv1.PodDisruptionBudget{},
			"monitoring.coreos.com/v1 ServiceMonitor": &serviceMonitor{},
		}[head.APIVersion+" "+head.Kind]
		if object == nil {
			t.Fatalf("there is a %s of %s, which this test does not know", head.Kind, head.APIVersion)
		}
		if err := yaml.UnmarshalStrict([]byte(document), object); err != nil {
			t.Errorf("%s %s: %v", head.Kind, head.Name, err)
		}
		key := head.Kind + " " + head.Name
		if found[key] != nil {
			t.Errorf("there are two of %s", key)
		}
		found[key] = object
	}
	return found
}

func rendered(t *testing.T, values string) map[string]any {
	t.Helper()
	text, err := render(values)
	if err != nil {
		t.Fatal(err)
	}
	return objects(t, text)
}

func get[T any](t *testing.T, all map[string]any, key string) *T {
	t.Helper()
	object, ok := all[key].(*T)
	if !ok {
		t.Fatalf("there is no %s", key)
	}
	return object
}

// The plain manifests are the chart without values.
func TestManifestsAreTheChart(t *testing.T) {
	want, err := render("")
	if err != nil {
		t.Fatal(err)
	}
	want = "# Written by `make manifests` from the Helm chart in dist/helm/nextrun.\n" + want
	if *update {
		if err := os.WriteFile(manifests, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(manifests)
	if err != nil || string(have) != want {
		t.Errorf("%s is not what the chart renders (%v); run make manifests", manifests, err)
	}
}

const everything = `
relay: {enabled: true}
dashboard: {enabled: true, args: [--dashboard-actions]}
metrics: {serviceMonitor: {enabled: true, labels: {release: prometheus}}}
database: {schema: jobs}
env: [{name: TOKEN, valueFrom: {secretKeyRef: {name: billing, key: token}}}]
executor:
  image: {repository: registry.example.org/jobs, tag: "7"}
  volumes: [{name: dumps, persistentVolumeClaim: {claimName: dumps}}]
  volumeMounts: [{name: dumps, mountPath: /dumps}]
image: {pullSecrets: [{name: registry}]}
nodeSelector: {disk: fast}
tolerations: [{key: jobs, operator: Exists}]
podAnnotations: {team: billing}
`

// pods are all pods of the chart, by the name of what makes them.
func pods(all map[string]any) map[string]corev1.PodTemplateSpec {
	found := map[string]corev1.PodTemplateSpec{}
	for name, object := range all {
		switch object := object.(type) {
		case *appsv1.Deployment:
			found[name] = object.Spec.Template
		case *batchv1.Job:
			found[name] = object.Spec.Template
		}
	}
	return found
}

// No pod is root, writes to its image, has capabilities or talks to Kubernetes.
func TestPodsHaveNoRights(t *testing.T) {
	found := pods(rendered(t, everything))
	if len(found) != 5 {
		t.Errorf("there are %d kinds of pods, want 5", len(found))
	}
	for name, pod := range found {
		s, c := pod.Spec.SecurityContext, pod.Spec.Containers[0].SecurityContext
		if !*s.RunAsNonRoot || *s.RunAsUser == 0 || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault || *pod.Spec.AutomountServiceAccountToken {
			t.Errorf("%s: the pod has %+v", name, s)
		}
		if *c.AllowPrivilegeEscalation || !*c.ReadOnlyRootFilesystem || !slices.Equal(c.Capabilities.Drop, []corev1.Capability{"ALL"}) {
			t.Errorf("%s: the container has %+v", name, c)
		}
		for _, env := range pod.Spec.Containers[0].Env {
			if env.Name == "NEXTRUN_DB" {
				t.Errorf("%s: the URL of the database is in a variable", name)
			}
		}
	}
}

// What pods mount is there, probes ask a port that is there, and all say so to nextrun.
func TestPodsFitTogether(t *testing.T) {
	all := rendered(t, everything)
	for name, pod := range pods(all) {
		c, ports := pod.Spec.Containers[0], map[string]int32{}
		for _, port := range c.Ports {
			ports[port.Name] = port.ContainerPort
		}
		for _, mount := range c.VolumeMounts {
			if !slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name }) {
				t.Errorf("%s mounts %s, which is not there", name, mount.Name)
			}
		}
		if strings.HasPrefix(name, "Job") {
			continue
		}
		if c.ReadinessProbe.HTTPGet.Path != "/healthz" || ports[c.ReadinessProbe.HTTPGet.Port.StrVal] == 0 || ports[c.LivenessProbe.TCPSocket.Port.StrVal] == 0 {
			t.Errorf("%s: the probes ask what is not there: %+v", name, c.ReadinessProbe)
		}
		if !slices.Contains(c.Args, fmt.Sprintf(":%d", ports["metrics"])) {
			t.Errorf("%s serves no metrics at their port: %q", name, c.Args)
		}
	}
	scheduler := get[appsv1.Deployment](t, all, "Deployment nextrun-scheduler")
	service := get[corev1.Service](t, all, "Service nextrun-metrics")
	if !selects(service.Spec.Selector, scheduler.Spec.Template.Labels) {
		t.Error("the service of metrics does not select the scheduler")
	}
	monitor := get[serviceMonitor](t, all, "ServiceMonitor nextrun")
	if !selects(monitor.Spec.Selector.MatchLabels, service.Labels) || monitor.Spec.Endpoints[0].Port != service.Spec.Ports[0].Name || monitor.Labels["release"] != "prometheus" {
		t.Errorf("the ServiceMonitor does not fit the service: %+v", monitor)
	}
	executor := get[appsv1.Deployment](t, all, "Deployment nextrun-executor").Spec.Template.Spec.Containers[0]
	if executor.Image != "registry.example.org/jobs:7" || scheduler.Spec.Template.Spec.Containers[0].Image == executor.Image {
		t.Errorf("the image of the executor is %s", executor.Image)
	}
}

func TestModeExclusive(t *testing.T) {
	if _, err := render("scheduler: {mode: exclusive}"); err == nil || !strings.Contains(err.Error(), "needs scheduler.replicas: 1") {
		t.Errorf("two exclusive schedulers: %v", err)
	}
	d := get[appsv1.Deployment](t, rendered(t, "scheduler: {mode: exclusive, replicas: 1}"), "Deployment nextrun-scheduler")
	if d.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType || d.Spec.Strategy.RollingUpdate != nil {
		t.Errorf("an exclusive scheduler is replaced by %+v", d.Spec.Strategy)
	}
}

func selects(selector, labels map[string]string) bool {
	for name, value := range selector {
		if labels[name] != value {
			return false
		}
	}
	return len(selector) > 0
}

// The schema takes every value that the chart has, and refuses what it does not know, naming the place.
func TestValuesAreChecked(t *testing.T) {
	for values, want := range map[string]string{
		"scheduler: {mod: leader}":                   "scheduler",
		"scheduler: {mode: leeder}":                  "scheduler.mode",
		"executor: {replicas: two}":                  "executor.replicas",
		"metrics: {port: 99310}":                     "metrics.port",
		"databse: {secret: x}":                       "databse",
		"database: {schema: Big}":                    "database.schema",
		"image: {pullPolicy: Sometimes}":             "image.pullPolicy",
		"migrate: {args: [--force]}":                 "migrate",
		"global: {a: b}":                             "",
		"disruptionBudget: {maxUnavailable: '50%'}":  "",
		"executor: {image: {repository: r, tag: t}}": "",
	} {
		_, err := render(values)
		if text := strings.ReplaceAll(fmt.Sprint(err), "/", "."); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(text, want)) {
			t.Errorf("%s: %v, want %q", values, err, want)
		}
	}
}
