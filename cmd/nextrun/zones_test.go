package main_test

import (
	"encoding/binary"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/clitest"
)

// zoneFile is a file of the zone database (RFC 9636) whose zone has one rule, in the notation of TZ.
func zoneFile(rule string) string {
	block := "TZif2" + strings.Repeat("\x00", 15)
	for _, count := range []uint32{0, 0, 0, 0, 1, 1} { // types, and bytes of their names
		block += string(binary.BigEndian.AppendUint32(nil, count))
	}
	block += strings.Repeat("\x00", 6+1) // the offset 0 from UTC, without a name
	return block + block + "\n" + rule + "\n"
}

// Where processes have different zone data, check names the others.
func TestCheckNamesProcessesWithOtherZoneData(t *testing.T) {
	t.Parallel()
	clitest.OnOne(t, func(t *testing.T, s clitest.Shell) {
		s.Must(t, "task", "add", "nightly", "--handler", "h", "--timer", "02:00 Europe/Oslo") // the program's zones are those of the scheduler
		s.Start(t, "scheduler").WaitFor("started")
		checked := func(zoneinfo string) string {
			c := exec.CommandContext(t.Context(), build(t), "check")
			c.Env = append(c.Environ(), "NEXTRUN_DB="+s.Env["NEXTRUN_DB"], "ZONEINFO="+zoneinfo)
			out, err := c.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			return strings.Join(strings.Fields(string(out)), " ")
		}
		dir := t.TempDir()
		write(t, filepath.Join(dir, "Europe", "Oslo"), zoneFile("CET-1"))
		if said := checked(""); strings.Contains(said, "zone data") {
			t.Errorf("with the same zone data: %s", said)
		}
		const want = "has other rules than this program for Europe/Oslo"
		if said := checked(dir); !strings.Contains(said, "scheduler test@") || !strings.Contains(said, want) {
			t.Errorf("want %q of %s", want, said)
		}
	})
}
