package demo

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// source is the data to be moved.
type source struct {
	file  *os.File
	r     io.Reader
	left  int64 // bytes that are still to come; -1: as many as wanted
	state uint64
}

// CheckFile says why a file can't be moved, or how long it is.
func CheckFile(name string) (size int64, err error) {
	f, err := openFile(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

func openFile(name string) (*os.File, error) {
	st, err := os.Stat(name) // before opening: to open a pipe waits for a writer
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file: its size must be known before it is moved", name)
	}
	return os.Open(name)
}

// openSource opens a file, or with "" makes data: bytes of it, or with -1 without end.
func openSource(name string, bytes int64) (*source, error) {
	if name == "" {
		return &source{left: bytes, state: 1}, nil
	}
	f, err := openFile(name)
	if err != nil {
		return nil, err
	}
	return &source{file: f, r: io.LimitReader(f, bytes), left: bytes}, nil
}

// read fills as much of p as there is. Nothing is the end.
func (s *source) read(p []byte) (int, error) {
	if s.left >= 0 {
		p = p[:min(int64(len(p)), s.left)]
	}
	if s.file == nil {
		s.generate(p)
		s.took(len(p))
		return len(p), nil
	}
	n, err := io.ReadFull(s.r, p)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		if n < len(p) {
			return n, fmt.Errorf("%s became shorter while it was read", s.file.Name())
		}
		err = nil
	}
	s.took(n)
	return n, err
}

func (s *source) took(n int) {
	if s.left >= 0 {
		s.left -= int64(n)
	}
}

// generate fills p with what no part of is like another: a block in the wrong place must not pass for the right one.
func (s *source) generate(p []byte) {
	x := s.state
	for ; len(p) >= 8; p = p[8:] {
		x += 0x9e3779b97f4a7c15
		binary.LittleEndian.PutUint64(p, (x^x>>29)*0xbf58476d1ce4e5b9)
	}
	for i := range p {
		p[i] = byte(x >> (8 * (i + 1)))
	}
	s.state = x + 1
}

func (s *source) close() {
	if s.file != nil {
		s.file.Close()
	}
}
