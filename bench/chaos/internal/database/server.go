//go:build linux

package database

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
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	_ "github.com/lib/pq" // the driver postgres

	"github.com/nextrun/nextrun/bench/chaos/internal/fault"
)

// server is a PostgreSQL server of the chaos, on a disk of its own.
type server struct {
	bin, dir, password string
	port               int
	as                 *syscall.Credential // nil: ourselves
	disk               *disk
	process            *os.Process
	ended              chan struct{}
}

// serverSettings are those of all servers. fsync costs nothing where the directory is in memory; what is killed is
// processes, not machines.
var serverSettings = []string{
	"listen_addresses = '127.0.0.1'", "unix_socket_directories = ''", "max_connections = 90", "superuser_reserved_connections = 10",
	"shared_buffers = 128MB", "max_wal_size = 512MB", "wal_keep_size = 128MB", "wal_level = replica", "hot_standby = on",
	"synchronous_commit = on", "log_timezone = UTC", "log_min_messages = fatal", "timezone = '<+0545>-05:45'",
	"wal_receiver_status_interval = 1s", "logging_collector = off",
}

// newServer prepares a server in a directory that does not exist.
func newServer(dir, password string) (s *server, err error) {
	s = &server{dir: dir, password: password}
	if s.bin = serverPrograms(); s.bin == "." {
		return nil, errors.New("no server programs of PostgreSQL here; see scripts/with-postgres")
	}
	if os.Geteuid() == 0 {
		if s.as, err = postgresUser(); err != nil {
			return nil, err
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.port = listener.Addr().(*net.TCPAddr).Port
	if err := errors.Join(listener.Close(), os.MkdirAll(dir, 0o700)); err != nil {
		return nil, err
	}
	s.disk = newDisk(dir)
	if err := s.own(dir); err != nil {
		s.disk.remove()
		return nil, err
	}
	return s, nil
}

// postgresUser is whom a server runs as, which refuses to run as root.
func postgresUser() (*syscall.Credential, error) {
	account, err := user.Lookup("postgres")
	if err != nil {
		account, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, err
	}
	uid, _ := strconv.Atoi(account.Uid)
	gid, _ := strconv.Atoi(account.Gid)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

func (s *server) own(name string) error {
	if s.as == nil {
		return nil
	}
	return os.Chown(name, int(s.as.Uid), int(s.as.Gid))
}

// serverPrograms is the directory of the newest ones.
func serverPrograms() string {
	if dir := os.Getenv("NEXTRUN_TEST_POSTGRES_BIN"); dir != "" {
		return dir
	}
	if list, _ := filepath.Glob("/usr/lib/postgresql/*/bin"); len(list) > 0 {
		return slices.Max(list)
	}
	name, _ := exec.LookPath("postgres")
	return filepath.Dir(name)
}

// tool runs a program of PostgreSQL as the server's user.
func (s *server) tool(ctx context.Context, name string, args ...string) error {
	c := exec.CommandContext(ctx, filepath.Join(s.bin, name), args...)
	c.Dir = "/"
	c.Env = append(os.Environ(), "PGPASSWORD="+s.password, "LC_ALL=C")
	c.SysProcAttr, c.WaitDelay = &syscall.SysProcAttr{Credential: s.as}, time.Second
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

func (s *server) data() string { return filepath.Join(s.dir, "data") }

// create makes an empty server.
func (s *server) create(ctx context.Context) error {
	secret := filepath.Join(s.dir, "password")
	if err := os.WriteFile(secret, []byte(s.password+"\n"), 0o600); err != nil {
		return err
	}
	if err := s.own(secret); err != nil {
		return err
	}
	if err := s.tool(ctx, "initdb", "--no-sync", "--username=postgres", "--auth=scram-sha-256", "--pwfile="+secret,
		"--encoding=UTF8", "--locale=C", "-D", s.data()); err != nil {
		return err
	}
	conf, err := os.OpenFile(filepath.Join(s.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = conf.WriteString(strings.Join(serverSettings, "\n") + "\n")
	return errors.Join(err, conf.Close())
}

// start starts the server, again and again while what was killed is still dying, and waits until it answers.
func (s *server) start(ctx context.Context) error {
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && ctx.Err() == nil; fault.Wait(ctx, 100*time.Millisecond) {
		if !s.runs() {
			if err := s.launch(); err != nil {
				return err
			}
		}
		if err = s.admin(ctx, "SELECT 1"); err == nil {
			return nil
		}
	}
	return fmt.Errorf("PostgreSQL did not start: %w; see %s.log", err, s.dir)
}

func (s *server) launch() error {
	log, err := os.OpenFile(s.dir+".log", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // the server has it
	c := exec.Command(filepath.Join(s.bin, "postgres"), "-D", s.data(), "-p", strconv.Itoa(s.port))
	c.Dir, c.Stdout, c.Stderr = "/", log, log
	c.Env = append(os.Environ(), "LC_ALL=C")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.as, Pdeathsig: syscall.SIGQUIT, Setpgid: true}
	if err := c.Start(); err != nil {
		return err
	}
	s.process, s.ended = c.Process, make(chan struct{})
	go func(ended chan struct{}) { _ = c.Wait(); close(ended) }(s.ended)
	return nil
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
func (s *server) end(signal syscall.Signal) error {
	if !s.runs() {
		return nil
	}
	if err := s.process.Signal(signal); err != nil {
		return err
	}
	select {
	case <-s.ended:
		return nil
	case <-time.After(time.Minute):
		_ = s.process.Signal(syscall.SIGQUIT)
		return errors.New("PostgreSQL did not stop within a minute")
	}
}

func (s *server) address() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

func pgURL(account, password, address, database string) string {
	return fmt.Sprintf("postgres://%s:%s@%s/%s?sslmode=disable", account, password, address, database)
}

// admin runs statements as the superuser, each in a transaction of its own, whatever is read only.
func (s *server) admin(ctx context.Context, statements ...string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	db, err := sql.Open("postgres", pgURL("postgres", s.password, s.address(), "postgres")+"&connect_timeout=5")
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // nothing is left to write
	return Exec(ctx, db, statements...)
}

// remove ends a server, and its disk if it has one.
func (s *server) remove() {
	_ = s.end(syscall.SIGQUIT)
	s.disk.remove()
}
