package web

import (
	"context"
	"errors"
	stdlog "log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"
)

// serverTimeout limits how long a request may take to come in, and how long the end of a server waits for those that it
// answers.
const serverTimeout = 10 * time.Second

// Server answers requests at an address. It is a service, which is started once.
type Server struct {
	name, address string
	log           *slog.Logger
	server        *http.Server
	ended         chan struct{}
	err           error
}

// NewServer returns a server that has yet to start. The name is for the log.
func NewServer(name, address string, handler http.Handler, log *slog.Logger) *Server {
	conns := lobby{waiting: map[net.Conn]time.Time{}}
	return &Server{name: name, address: address, log: log, ended: make(chan struct{}), server: &http.Server{
		Handler: handler, ConnState: conns.changed, ReadHeaderTimeout: serverTimeout, ReadTimeout: serverTimeout, WriteTimeout: 2 * serverTimeout,
		IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: stdlog.New(complaints{name, log}, "", 0),
	}}
}

// complaints are lines of the server, which would go to standard error without a logger.
type complaints struct {
	name string
	log  *slog.Logger
}

// Write implements [io.Writer].
func (c complaints) Write(line []byte) (int, error) {
	c.log.Warn(c.name+": a request failed", "error", strings.TrimSpace(string(line)))
	return len(line), nil
}

// Start listens, and serves until Stop.
func (s *Server) Start(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.address)
	if err != nil {
		return err
	}
	go func() {
		defer close(s.ended)
		if err := s.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.err = err
		}
	}()
	s.log.Info(s.name+" listening", "address", "http://"+listener.Addr().String()+"/")
	return nil
}

// Stop answers what was asked, for a while, and ends a server that was started.
func (s *Server) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, serverTimeout)
	defer cancel()
	if s.server.Shutdown(ctx) != nil {
		_ = s.server.Close() // cuts off whoever still asks
	}
	<-s.ended
	return nil
}

// Done is closed when the server has ended.
func (s *Server) Done() <-chan struct{} { return s.ended }

// Err is why it has ended by itself, after Done.
func (s *Server) Err() error { return s.err }
