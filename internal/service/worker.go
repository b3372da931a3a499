package service

import (
	"cmp"
	"runtime/debug"
	"strings"
)

// WorkerName is a name as marks, workers and holders of locks have it: each character
// other than an ASCII letter, a digit, -, _ and . is a dash. Programs that share the
// tables, such as Docspell, may refuse to read others.
func WorkerName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '-'
	}, name)
}

// BootMark stands between the name and the boot id in a [WorkerID], and in no name.
const BootMark = "@"

// WorkerID returns an id that tells processes of the same name apart, also those that
// ran one after the other: NAME@BOOTID.
func WorkerID(name string) string { return WorkerName(name) + BootMark + BootID() }

// IsWorkerID reports whether a text is a [WorkerID], and no name of another kind of executor.
func IsWorkerID(s string) bool {
	name, boot, is := strings.Cut(s, BootMark)
	return is && name == WorkerName(name) && len(boot) == bootDigits && strings.Trim(boot, "0123456789abcdef") == ""
}

// Program is the version of the program that nextrun is in, if it says so before it starts
// a service; empty: what the go command noted counts.
var Program string

// Version is that of the program, or of nextrun in a program that embeds it.
func Version() string {
	if Program != "" {
		return Program
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, dep := range info.Deps {
		if dep.Path == "github.com/nextrun/nextrun" {
			return cmp.Or(dep.Version, "unknown")
		}
	}
	return cmp.Or(info.Main.Version, "unknown")
}
