package cronjob

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
)

// program is what a container runs.
type program struct {
	image string
	argv  []string // empty: only the image knows
	args  []string // the arguments of an unknown program
	env   []string
	dir   string

	elsewhere []string // variables whose values stand in other objects
}

func (p program) summary() string {
	if len(p.argv) > 0 {
		return strings.Join(p.argv, " ")
	}
	return strings.TrimSpace(p.image + " " + strings.Join(p.args, " "))
}

func (p program) payload() schedules.CommandPayload {
	argv := p.argv
	if len(argv) == 0 {
		argv = p.args
	}
	return schedules.CommandPayload{Command: argv, Env: p.env, Dir: p.dir, Image: p.image}
}

// Settings of a pod and of a container that are carried over, that Kubernetes fills in
// by itself, or that say nothing about what runs.
var (
	podKeys       = []string{"containers", "initContainers", "restartPolicy", "dnsPolicy", "schedulerName", "terminationGracePeriodSeconds", "securityContext"}
	containerKeys = []string{"name", "image", "command", "args", "env", "envFrom", "workingDir", "imagePullPolicy", "terminationMessagePath", "terminationMessagePolicy", "resources"}
)

// container reads the program of a pod.
func container(pod node, item *schedules.Item) (p program) {
	list := pod.get("containers").list()
	if len(list) == 0 {
		item.Change("the pod has no container")
		return p
	}
	if len(list) > 1 {
		item.Change(fmt.Sprintf("of %d containers only the first one is taken", len(list)))
	}
	if n := pod.get("initContainers"); n.isSet() {
		item.Change("initContainers are left out: let the command do their work")
	}
	c := list[0]
	p.image, p.dir = c.get("image").text(), c.get("workingDir").text()
	if !p.environment(c, item) {
		p.env = nil
	}
	command, args := texts(c.get("command")), texts(c.get("args"))
	words := make([]string, 0, len(command)+len(args))
	for _, word := range append(command, args...) {
		expanded, unknown := p.expand(word)
		if slices.Contains(p.elsewhere, unknown) {
			item.Change(fmt.Sprintf("$(%s) is not expanded: let the program read the variable", unknown))
		}
		words = append(words, expanded)
	}
	for _, word := range append(append([]string{p.image, p.dir}, words...), p.env...) {
		if schedules.CheckText(word) != nil {
			item.Change("the command is left out: " + schedules.ErrNotText.Error())
			return program{}
		}
	}
	if len(command) > 0 && command[0] != "" {
		p.argv = words
	} else {
		p.args = words
	}
	if len(p.argv) > 0 {
		item.Change(fmt.Sprintf("the command will run where the executor runs, not in the image %s", p.image))
	}
	unknown(c, containerKeys, "the container", item)
	if n := c.get("resources"); n.get("limits").isSet() || n.get("requests").isSet() {
		item.Change("resources: limit the executor, such as by its unit or container")
	}
	unknown(pod, podKeys, "the pod", item)
	return p
}

// environment reads the variables that have a value of their own, and names the others.
func (p *program) environment(c node, item *schedules.Item) bool {
	for _, v := range c.get("env").list() {
		name := v.get("name").text()
		switch {
		case name == "" || strings.ContainsAny(name, "=\x00"):
			item.Change(fmt.Sprintf("%q cannot name a variable", name))
			return false
		case v.get("valueFrom").isSet():
			p.elsewhere = append(p.elsewhere, name)
		default:
			value, _ := p.expand(v.get("value").text())
			p.env = append(p.env, name+"="+value)
		}
	}
	if len(p.elsewhere) > 0 {
		item.Change("variables whose values stand in other objects, to be given to the executor: " + schedules.Shorten(strings.Join(p.elsewhere, ", ")))
	}
	if c.get("envFrom").isSet() {
		item.Change("envFrom: give these variables to the executor")
	}
	return true
}

func texts(n node) (list []string) {
	for _, v := range n.list() {
		if v.is(yaml.ScalarNode) {
			list = append(list, v.text())
		}
	}
	return list
}

// expand replaces $(NAME) by the value of a variable that is known, and $$ by $. It
// returns the first name that is not.
func (p *program) expand(word string) (text, unknown string) {
	var b strings.Builder
	for i := 0; i < len(word); i++ {
		switch {
		case strings.HasPrefix(word[i:], "$$"):
			b.WriteByte('$')
			i++
		case strings.HasPrefix(word[i:], "$("):
			name, _, closed := strings.Cut(word[i+2:], ")")
			value, known := p.value(name)
			if closed && known {
				b.WriteString(value)
				i += len(name) + 2
				continue
			}
			if closed && unknown == "" {
				unknown = name
			}
			b.WriteByte('$')
		default:
			b.WriteByte(word[i])
		}
	}
	return b.String(), unknown
}

func (p *program) value(name string) (value string, known bool) {
	for _, pair := range p.env {
		if n, v, _ := strings.Cut(pair, "="); n == name {
			value, known = v, true
		}
	}
	return value, known
}
