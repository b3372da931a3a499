//go:build linux

// Package disk makes file systems that can be full.
package disk

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// Disk is a file system of its own in a directory, which can be full; only root can make it.
type Disk struct {
	dir     string
	mounted bool
	why     string // it is not
}

// roomy is the size of a disk that is not full. It is in memory, and only what is used counts.
const roomy = 4 << 30

// New mounts a disk in a directory, if possible.
func New(dir string) *Disk {
	d := &Disk{dir: dir}
	if os.Geteuid() != 0 {
		d.why = "only root can mount a disk of its own"
		return d
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%d,mode=0700", roomy), "nextrun-chaos", dir).CombinedOutput(); err != nil {
		d.why = fmt.Sprintf("no disk of its own can be mounted here: %s", out)
		return d
	}
	d.mounted = true
	return d
}

// Mounted reports whether there is a disk of its own.
func (d *Disk) Mounted() bool { return d.mounted }

// Why says why there is none.
func (d *Disk) Why() string { return d.why }

// Fill leaves next to nothing free.
func (d *Disk) Fill() error {
	var s syscall.Statfs_t
	if err := syscall.Statfs(d.dir, &s); err != nil {
		return err
	}
	used := (s.Blocks - s.Bfree) * uint64(s.Bsize)
	return d.resize(used + 64<<10)
}

// Empty makes room again.
func (d *Disk) Empty() error { return d.resize(roomy) }

func (d *Disk) resize(size uint64) error {
	if out, err := exec.Command("mount", "-o", fmt.Sprintf("remount,size=%d", size), d.dir).CombinedOutput(); err != nil {
		return fmt.Errorf("mount: %w: %s", err, out)
	}
	return nil
}

// Remove unmounts the disk, even if files of it are open.
func (d *Disk) Remove() {
	if d.mounted {
		_ = exec.Command("umount", "-l", d.dir).Run()
	}
}
