package frame

import (
	"os"
	"path/filepath"
	"strings"
)

// offered are the zones that the menu offers beside any other: UTC, and that of the server.
func offered() []string {
	if own := serverZone(); own != "UTC" && zoneNamed(own) != nil {
		return []string{"UTC", own}
	}
	return []string{"UTC"}
}

// serverZone is the name of the machine's time zone: TZ, or where /etc/localtime points to.
func serverZone() string {
	if zone := strings.TrimPrefix(os.Getenv("TZ"), ":"); zone != "" {
		return zone
	}
	target, err := filepath.EvalSymlinks("/etc/localtime")
	if _, zone, found := strings.Cut(target, "/zoneinfo/"); err == nil && found {
		return strings.TrimPrefix(zone, "Etc/")
	}
	return "UTC"
}
