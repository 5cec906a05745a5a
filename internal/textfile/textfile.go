package textfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// Patience is how long who writes to a pipe has for all of it.
const Patience = 10 * time.Second

// lookEvery is how often it is looked whether somebody writes to a pipe yet.
const lookEvery = 20 * time.Millisecond

// File is what was read.
type File struct {
	Text []byte // at most one byte more than was asked for, which says that there is more
	info fs.FileInfo
}

// Read reads a file, or a pipe until it is closed.
//
// Errors: the system's, without the name; a directory; a pipe of which not all comes in time.
func Read(name string, most int) (File, error) { return read(name, most, Patience) }

func read(name string, most int, patience time.Duration) (r File, err error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // or opening a pipe would wait for who writes
	if err != nil {
		return r, bare(err)
	}
	defer f.Close()
	if r.info, err = f.Stat(); err != nil {
		return r, bare(err)
	}
	if r.info.IsDir() {
		return r, errors.New("it is a directory, not a file")
	}
	late := time.Now().Add(patience)
	_ = f.SetReadDeadline(late) // what has none needs none
	in := io.LimitReader(f, int64(most)+1)
	for {
		r.Text, err = io.ReadAll(in)
		// Nobody has the other end open yet, or nobody any more: that looks the same.
		if err != nil || len(r.Text) > 0 || r.info.Mode()&fs.ModeNamedPipe == 0 || time.Now().After(late) {
			break
		}
		time.Sleep(lookEvery)
	}
	tooLate := errors.Is(err, os.ErrDeadlineExceeded)
	switch empty := len(r.Text) == 0; {
	case empty && (tooLate || err == nil && r.info.Mode()&fs.ModeNamedPipe != 0):
		return r, fmt.Errorf("nobody wrote to it within %v, and it is no file", patience)
	case tooLate:
		return r, fmt.Errorf("not all of it came within %v, and it is no file: does who writes to it close it?", patience)
	}
	return r, bare(err)
}

// bare is an error without the name, which who asked knows.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// Who may do what with a file that has a secret in it. Its group may read it: that is how service accounts, and containers, are given one.
const (
	othersAny  fs.FileMode = 0o007
	groupWrite fs.FileMode = 0o020
)

// Private refuses a file with a secret in it that others can read, change or give away: what all users of a machine know is no secret. Root may use
// what belongs to others: it is told whose by name, as by sudo.
func (r File) Private() error {
	owner := uint32(0)
	if st, ok := r.info.Sys().(*syscall.Stat_t); ok {
		owner = st.Uid
	}
	return private(r.info.Mode(), owner, uint32(os.Geteuid()))
}

func private(mode fs.FileMode, owner, me uint32) error {
	if mode &= fs.ModePerm; mode&(othersAny|groupWrite) != 0 {
		return fmt.Errorf("it has a secret, and its mode %04o lets others read or change it: chmod 600 it, and make a new secret if others had the chance", mode)
	}
	if owner != me && owner != 0 && me != 0 {
		return fmt.Errorf("it has a secret, and belongs to user %d, who can change it and let others read it: it must belong to root or to who runs this (user %d); make a copy that does", owner, me)
	}
	return nil
}
