//go:build linux

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	_ "github.com/lib/pq" // the driver postgres

	"github.com/nextrun/nextrun/bench/internal/must"
)

// server is a PostgreSQL server, on a disk of its own. Its methods panic by must.Nil.
type server struct {
	bin, dir, password string
	port               int
	as                 *syscall.Credential // nil: ourselves
	disk               disk
	process            *os.Process
	ended              chan struct{}
}

// serverSettings are those of all servers. fsync costs nothing where the directory is in memory; what is killed is
// processes, not machines.
const serverSettings = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 90
superuser_reserved_connections = 10
max_wal_size = 512MB
wal_keep_size = 128MB
log_timezone = UTC
log_min_messages = fatal
timezone = '<+0545>-05:45'
wal_receiver_status_interval = 1s
`

// newServer prepares a server in a directory that does not exist.
func newServer(dir, password string) *server {
	find := exec.Command("bash", "-c", `. ../scripts/lib/cluster.sh; cluster_find && echo "$cluster_bin $cluster_user"`)
	out, err := find.Output()
	if err != nil {
		panic(errors.New("no server programs of PostgreSQL here; see scripts/with-postgres"))
	}
	bin, account, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	program := must.Get(filepath.EvalSymlinks(filepath.Join(bin, "postgres"))) // beside which are the other programs
	s := &server{bin: filepath.Dir(program), dir: dir, password: password}
	if account != "" { // a server refuses to run as root
		u := must.Get(user.Lookup(account))
		s.as = &syscall.Credential{Uid: uint32(must.Get(strconv.Atoi(u.Uid))), Gid: uint32(must.Get(strconv.Atoi(u.Gid)))}
	}
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	s.port = listener.Addr().(*net.TCPAddr).Port
	must.Nil(errors.Join(listener.Close(), os.Mkdir(dir, 0o700)))
	s.disk = newDisk(dir)
	s.own(dir)
	return s
}

func (s *server) own(name string) {
	if s.as != nil {
		must.Nil(os.Chown(name, int(s.as.Uid), int(s.as.Gid)))
	}
}

// tool runs a program of PostgreSQL as the server's user.
func (s *server) tool(ctx context.Context, name string, args ...string) {
	c := exec.CommandContext(ctx, filepath.Join(s.bin, name), args...)
	c.Dir = "/"
	c.Env = append(os.Environ(), "PGPASSWORD="+s.password, "LC_ALL=C")
	c.SysProcAttr, c.WaitDelay = &syscall.SysProcAttr{Credential: s.as}, time.Second
	if out, err := c.CombinedOutput(); err != nil {
		panic(fmt.Errorf("%s: %w\n%s", name, err, out))
	}
}

func (s *server) data() string { return filepath.Join(s.dir, "data") }

// create makes an empty server.
func (s *server) create(ctx context.Context) {
	secret := filepath.Join(s.dir, "password")
	must.Nil(os.WriteFile(secret, []byte(s.password+"\n"), 0o600))
	s.own(secret)
	s.tool(ctx, "initdb", "--no-sync", "--username=postgres", "--auth=scram-sha-256", "--pwfile="+secret,
		"--encoding=UTF8", "--locale=C", "-D", s.data())
	conf := must.Get(os.OpenFile(filepath.Join(s.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0))
	defer conf.Close() //nolint:errcheck // WriteString tells
	must.Get(conf.WriteString(serverSettings))
}

// start starts the server, again and again while what was killed is still dying, and waits until it answers.
func (s *server) start(ctx context.Context) {
	err := surely(ctx, time.Minute, func(ctx context.Context) error {
		if !s.runs() {
			s.launch()
		}
		return must.Try(func() { s.admin(ctx, "SELECT 1") })
	})
	if err != nil {
		panic(fmt.Errorf("PostgreSQL did not start: %w; see %s.log", err, s.dir))
	}
}

func (s *server) launch() {
	log := must.Get(os.OpenFile(s.dir+".log", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600))
	defer log.Close() //nolint:errcheck // the server has it
	c := exec.Command(filepath.Join(s.bin, "postgres"), "-D", s.data(), "-p", strconv.Itoa(s.port))
	c.Dir, c.Stdout, c.Stderr = "/", log, log
	c.Env = append(os.Environ(), "LC_ALL=C")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.as, Pdeathsig: syscall.SIGQUIT, Setpgid: true}
	must.Nil(c.Start())
	ended := make(chan struct{})
	s.process, s.ended = c.Process, ended
	go func() { _ = c.Wait(); close(ended) }()
}

func (s *server) runs() bool {
	select {
	case <-s.ended:
		return false
	default:
		return s.ended != nil
	}
}

// end sends a signal to the server, and waits for its end.
func (s *server) end(signal syscall.Signal) {
	if !s.runs() {
		return
	}
	must.Nil(s.process.Signal(signal))
	select {
	case <-s.ended:
	case <-time.After(time.Minute):
		_ = s.process.Signal(syscall.SIGQUIT)
		panic(errors.New("PostgreSQL did not stop within a minute"))
	}
}

func (s *server) address() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

// admin runs statements as the superuser, each in a transaction of its own, whatever is read only.
func (s *server) admin(ctx context.Context, statements ...string) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	db := must.Get(sql.Open("postgres", pgURL("postgres", s.password, s.address(), "postgres")+"&connect_timeout=5"))
	defer db.Close() //nolint:errcheck // nothing is left to write
	must.Nil(execute(ctx, db, statements...))
}

// remove ends a server, and its disk if it has one.
func (s *server) remove() {
	_ = must.Try(func() { s.end(syscall.SIGQUIT) })
	s.disk.remove()
}
