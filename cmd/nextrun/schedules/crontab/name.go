package crontab

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

var oddInID = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// separator is what stands between the commands of a line.
var separator = regexp.MustCompile(`&&|\|\||[;|&]`)

// What says little about a line: commands that prepare something, and those that run
// what their arguments name, with the number of arguments in front of that.
var (
	preparing = []string{"cd", "test", "[", "[[", "export", "source", ".", "umask", "set", "sleep", "true", ":", "echo",
		"if", "then", "else", "elif", "fi", "while", "until", "for", "do", "done", "case", "esac"}
	wrapping = map[string]int{
		"nice": 0, "ionice": 0, "sudo": 0, "env": 0, "nohup": 0, "exec": 0, "command": 0, "setsid": 0, "time": 0, "chronic": 0,
		"flock": 1, "timeout": 1, "chrt": 1, "su": 1, "runuser": 1,
		"if": 0, "then": 0, "else": 0, "elif": 0, "while": 0, "until": 0, "do": 0,
		"sh": 0, "bash": 0, "dash": 0, "zsh": 0, "python": 0, "python3": 0, "perl": 0, "php": 0, "ruby": 0, "node": 0,
	}
	// with an argument
	optionsOf = map[string][]string{
		"nice": {"-n"}, "ionice": {"-c", "-n"}, "sudo": {"-u", "-g"}, "flock": {"-w", "-E"}, "timeout": {"-k", "-s"}, "runuser": {"-u"},
	}
)

// nameOf is the name of the command that a line is about.
func nameOf(line string) string {
	first := ""
	for _, command := range separator.Split(line, -1) {
		name := programOf(strings.Fields(command))
		if name != "" && !slices.Contains(preparing, name) {
			return name
		}
		if first == "" {
			first = name
		}
	}
	return first
}

// programOf is the program that a simple command runs in the end, or "".
func programOf(words []string) string {
	name, wrapper := "", ""
	skip := 0
	for i := 0; i < len(words); i++ {
		word := words[i]
		switch {
		case strings.Contains(word, "=") || wrapper != "" && strings.HasPrefix(word, "-"):
			if slices.Contains(optionsOf[wrapper], word) {
				i++
			}
			continue
		case skip > 0:
			skip--
			continue
		case i == 0 && slices.Contains(usualUsers, word) && len(words) > 1:
			continue // the user column of /etc/crontab
		}
		clean := strings.Trim(oddInID.ReplaceAllString(path.Base(word), ""), "-.")
		if clean == "" && !slices.Contains(preparing, word) {
			return name
		}
		if clean == "" {
			return word
		}
		name = clean
		arguments, wraps := wrapping[name]
		if !wraps {
			return name
		}
		wrapper, skip = name, arguments
	}
	return name
}
