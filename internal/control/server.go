package control

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/openbraid/braid/fault"
)

// Handler is what a process lets be seen and done.
type Handler struct {
	// Inspect is the process's state. It takes a second at the most, whatever its workers do.
	Inspect func() any
	// Faults has rules done. Nil: nothing stands in front of this process's connections.
	Faults *fault.Injector
}

const (
	mostBytes   = 64 << 10
	mostServed  = 8
	mostSockets = 16
	requestTime = 5 * time.Second
	writeTime   = 5 * time.Second
	tellEvery   = 500 * time.Millisecond
)

// Server is a socket that stands.
type Server struct {
	h    Handler
	ln   *net.UnixListener
	path string
	seat chan struct{} // one for each that is served
	quit chan struct{}
	once sync.Once // of Close
	all  sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool
}

// Listen makes the socket of this process in dir; "" is Dir of this user.
func Listen(dir string, h Handler) (*Server, error) {
	if dir == "" {
		dir = Dir(os.Getuid())
	}
	if err := own(dir); err != nil {
		return nil, err
	}
	sweep(dir)
	s := &Server{h: h, seat: make(chan struct{}, mostServed), quit: make(chan struct{}), conns: map[net.Conn]bool{}}
	for n := range mostSockets {
		s.path = Path(dir, os.Getpid(), n)
		if !vacant(s.path) {
			continue
		}
		var err error
		if s.ln, err = net.ListenUnix("unix", &net.UnixAddr{Name: s.path, Net: "unix"}); err != nil {
			return nil, fmt.Errorf("control socket: %w", err)
		}
		s.all.Add(1)
		go s.accept()
		return s, nil
	}
	return nil, fmt.Errorf("control socket: %d of them stand in %s already for this process", mostSockets, dir)
}

// own makes a directory that is this user's alone, or says why it isn't.
func own(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("control socket: %w", err)
	}
	st, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("control socket: %w", err)
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !st.IsDir() || !ok || int(sys.Uid) != os.Getuid() || st.Mode().Perm() != 0o700 {
		return fmt.Errorf("control socket: %s must be a directory of this user that nobody else can enter (mode 0700); it is %v", dir, st.Mode())
	}
	return nil
}

// sweep takes away what processes left that are gone.
func sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".sock")
		digits, _, _ := strings.Cut(name, ".")
		if pid, err := strconv.Atoi(digits); ok && err == nil && pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// vacant takes a socket away on which nobody answers, and says whether there is none now.
func vacant(path string) bool {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
		c.Close()
		return false
	} else if !errors.Is(err, syscall.ECONNREFUSED) {
		return false
	}
	return os.Remove(path) == nil
}

// Path is where it stands.
func (s *Server) Path() string { return s.path }

// Close ends it, and all that is being served, and waits. Twice is once, and who comes second waits, too.
func (s *Server) Close() (err error) {
	s.once.Do(func() {
		close(s.quit)
		err = s.ln.Close() // takes the socket away
		s.mu.Lock()
		for c := range s.conns {
			c.Close()
		}
		s.mu.Unlock()
		s.all.Wait()
	})
	return err
}

func (s *Server) accept() {
	defer s.all.Done()
	for {
		c, err := s.ln.AcceptUnix()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			select { // no descriptors are left, perhaps
			case <-time.After(100 * time.Millisecond):
				continue
			case <-s.quit:
				return
			}
		}
		select {
		case s.seat <- struct{}{}:
		default:
			c.Close()
			continue
		}
		if !s.keep(c) {
			return
		}
		s.all.Add(1)
		go func() {
			defer s.all.Done()
			s.serve(c)
			s.drop(c)
			<-s.seat
		}()
	}
}

// keep notes a connection; false if it is too late for one.
func (s *Server) keep(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.quit:
		c.Close()
		return false
	default:
	}
	s.conns[c] = true
	return true
}

func (s *Server) drop(c net.Conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	c.Close()
}

// serve answers one request.
func (s *Server) serve(c *net.UnixConn) {
	if uid, err := peerOf(c); err != nil || uid != os.Getuid() {
		return
	}
	_ = c.SetReadDeadline(time.Now().Add(requestTime))
	line, err := bufio.NewReader(io.LimitReader(c, mostBytes)).ReadBytes('\n')
	if err != nil {
		s.say(c, Reply{Error: fmt.Sprintf("want one line of JSON, of at most %d bytes, within %v", mostBytes, requestTime)})
		return
	}
	var r Request
	if err := json.Unmarshal(line, &r); err != nil {
		s.say(c, Reply{Error: "want JSON: " + err.Error()})
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	switch r.Do {
	case "inspect":
		s.say(c, Reply{State: s.h.Inspect()})
	case "fault":
		s.fault(c, r.Plan)
	default:
		s.say(c, Reply{Error: fmt.Sprintf("%q is nothing that can be asked for; there are inspect and fault", r.Do)})
	}
}

func (s *Server) say(c net.Conn, r Reply) error {
	_ = c.SetWriteDeadline(time.Now().Add(writeTime))
	return json.NewEncoder(c).Encode(r)
}
