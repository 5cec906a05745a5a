package live

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Screen is a terminal, or what is used in place of one. It is safe for concurrent use.
type Screen struct {
	mu    sync.Mutex
	w     io.Writer
	size  func() (columns, rows int)
	color bool
	drawn int // lines at the bottom, that are drawn again

	lanes   []*history
	total   history
	last    *Frame
	drawnAt time.Duration
}

// Frame is how things stand.
type Frame struct {
	At    time.Duration // since the beginning; each is later than the one before
	Lanes []Lane
	Done  uint64 // bytes
	Total uint64 // 0: not known
	Unit  string // what Done counts, such as "arrived"
	Note  string // at the end of the last line, if there is room
}

// Lane is one of them.
type Lane struct {
	Name  string // no two of a frame have the same
	State string // "up", or why not
	Bytes uint64 // ever
}

// New is a screen on w; nil if w is not a terminal, or one that can't draw.
func New(w *os.File) *Screen {
	fd := int(w.Fd())
	if _, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ); err != nil || os.Getenv("TERM") == "dumb" || os.Getenv("TERM") == "" {
		return nil
	}
	return newScreen(w, os.Getenv("NO_COLOR") == "", func() (columns, rows int) {
		s, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
		if err != nil || s.Col == 0 || s.Row == 0 {
			return 80, 24
		}
		return int(s.Col), int(s.Row)
	})
}

func newScreen(w io.Writer, color bool, size func() (columns, rows int)) *Screen {
	return &Screen{w: w, size: size, color: color}
}

// Write prints lines above what is drawn. A line that does not end yet belongs to the next one only if nothing is drawn.
func (s *Screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out strings.Builder
	s.erase(&out)
	out.Write(b)
	if s.last != nil && len(b) > 0 && b[len(b)-1] == '\n' {
		s.draw(&out)
	}
	if _, err := io.WriteString(s.w, out.String()); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Line prints a line above what is drawn.
func (s *Screen) Line(format string, args ...any) { fmt.Fprintf(s, format+"\n", args...) }

// redraw is how often things are drawn again at most.
const redraw = 80 * time.Millisecond

// Show draws how things stand.
func (s *Screen) Show(f Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(&f)
	if s.last != nil && f.At-s.drawnAt < redraw {
		s.last = &f
		return
	}
	s.last, s.drawnAt = &f, f.At
	var out strings.Builder
	s.erase(&out)
	s.draw(&out)
	_, _ = io.WriteString(s.w, out.String())
}

// Close takes away what is drawn. Lines stay.
func (s *Screen) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out strings.Builder
	s.erase(&out)
	s.last = nil
	_, _ = io.WriteString(s.w, out.String())
}

// erase takes back what is drawn.
func (s *Screen) erase(out *strings.Builder) {
	if s.drawn > 0 {
		fmt.Fprintf(out, "\r\x1b[%dA\x1b[J", s.drawn)
		s.drawn = 0
	}
}

func (s *Screen) draw(out *strings.Builder) {
	columns, rows := s.size()
	for _, l := range s.lines(columns, rows) {
		out.WriteString(l)
		out.WriteString("\n")
		s.drawn++
	}
}
