package crontab

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	separator = regexp.MustCompile(`&&|\|\||[;|&]`) // of the commands of a line
	oddInID   = regexp.MustCompile(`[^A-Za-z0-9._-]+`)
	number    = regexp.MustCompile(`^[0-9.]+[smhd]?$`)
)

// What says little about a line: commands that prepare something, and those that run what their arguments name.
var (
	preparing = []string{"cd", "test", "[", "[[", "!", "export", "source", ".", "umask", "set", "sleep", "true", ":", "echo", "while", "until", "for", "case"}
	wrapping  = []string{
		"nice", "ionice", "sudo", "env", "nohup", "exec", "command", "setsid", "time", "chronic", "flock", "timeout", "chrt", "runuser",
		"if", "then", "else", "elif", "fi", "do", "done", "esac",
		"sh", "bash", "dash", "zsh", "python", "python3", "perl", "php", "ruby", "node",
	}
)

// maxName leaves room in an id for a prefix and a number.
const maxName = 150

// nameOf makes a part of an id out of the program that a command is about. It is never empty.
func nameOf(command string) string {
	first := ""
	for _, part := range separator.Split(command, -1) {
		name, most := programOf(strings.Fields(part))
		if most {
			return name
		}
		if first == "" {
			first = name
		}
	}
	if first == "" {
		return "cron"
	}
	return first
}

// programOf is the program that a simple command runs in the end, and whether it is what a line is about.
func programOf(words []string) (name string, most bool) {
	skip := false // the next word: the file of a lock, or a user
	for _, word := range words {
		base := path.Base(word)
		id := strings.Trim(oddInID.ReplaceAllString(base, ""), "-.")
		id = strings.TrimRight(id[:min(len(id), maxName)], "-.")
		switch {
		case slices.Contains(preparing, base):
			return id, false
		case strings.HasPrefix(word, "-"):
			skip = skip || word == "-u" && (name == "sudo" || name == "runuser")
		case strings.Contains(word, "="), number.MatchString(word), slices.Contains(usualUsers, word):
		case skip:
			skip = false
		case slices.Contains(wrapping, base):
			name, skip = id, base == "flock"
		case id != "":
			return id, true
		}
	}
	return name, false
}
