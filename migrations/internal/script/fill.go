package script

import (
	"fmt"
	"strings"
	"text/template/parse"
)

// filler fills in a template. It knows the little that the files need of text/template:
// text, values, functions of texts, if, range, and templates with an argument. A program
// that links text/template itself keeps all methods of all types, which makes it some
// megabytes larger.
type filler struct {
	functions map[string]function
	templates map[string]*parse.Tree
	out       strings.Builder
}

// function returns a text, a truth value, or a list to range over.
type function func(args ...string) any

// fields is an element of a list that has names.
type fields map[string]string

// fill returns a text with its templates filled in.
func fill(name, text string, functions map[string]function) (string, error) {
	known := map[string]any{}
	for name := range functions {
		known[name] = true
	}
	templates, err := parse.Parse(name, text, "", "", known)
	if err != nil {
		return "", err
	}
	f := &filler{functions: functions, templates: templates}
	if err := f.call(name, ""); err != nil {
		return "", err
	}
	return f.out.String(), nil
}

// call fills in a template of this name.
func (f *filler) call(name string, dot any) error {
	tree, ok := f.templates[name]
	if !ok {
		return fmt.Errorf("there is no template %q", name)
	}
	return f.list(tree.Root, dot)
}

func (f *filler) list(list *parse.ListNode, dot any) error {
	if list == nil { // there is no else
		return nil
	}
	for _, n := range list.Nodes {
		if err := f.node(n, dot); err != nil {
			return err
		}
	}
	return nil
}

func (f *filler) node(n parse.Node, dot any) error {
	switch n := n.(type) {
	case *parse.TextNode:
		f.out.Write(n.Text)
	case *parse.ActionNode:
		value, err := f.value(n.Pipe, dot)
		fmt.Fprint(&f.out, value)
		return err
	case *parse.TemplateNode:
		value, err := f.value(n.Pipe, dot)
		if err != nil {
			return err
		}
		return f.call(n.Name, value)
	case *parse.IfNode:
		value, err := f.value(n.Pipe, dot)
		if err != nil {
			return err
		}
		if value == true {
			return f.list(n.List, dot)
		}
		return f.list(n.ElseList, dot)
	case *parse.RangeNode:
		value, err := f.value(n.Pipe, dot)
		elements, _ := value.([]any)
		for _, one := range elements {
			if err == nil {
				err = f.list(n.List, one)
			}
		}
		return err
	default:
		return fmt.Errorf("unknown: %s", n)
	}
	return nil
}

// value is that of an argument, or of a function and its arguments.
func (f *filler) value(n parse.Node, dot any) (any, error) {
	switch n := n.(type) {
	case *parse.PipeNode:
		if n == nil { // a template without an argument
			return "", nil
		}
		if len(n.Cmds) == 1 && len(n.Decl) == 0 {
			return f.command(n.Cmds[0].Args, dot)
		}
	case *parse.StringNode:
		return n.Text, nil
	case *parse.DotNode:
		return dot, nil
	case *parse.FieldNode:
		if named, ok := dot.(fields); ok && len(n.Ident) == 1 {
			return named[n.Ident[0]], nil
		}
	case *parse.IdentifierNode:
		return f.command([]parse.Node{n}, dot)
	}
	return nil, fmt.Errorf("unknown: %s", n)
}

func (f *filler) command(args []parse.Node, dot any) (any, error) {
	name, ok := args[0].(*parse.IdentifierNode)
	if !ok {
		return f.value(args[0], dot)
	}
	var texts []string
	for _, a := range args[1:] {
		value, err := f.value(a, dot)
		if err != nil {
			return nil, err
		}
		texts = append(texts, fmt.Sprint(value))
	}
	return f.functions[name.Ident](texts...), nil
}
