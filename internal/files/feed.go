package files

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/openbraid/braid/internal/files/dialogue"
	"github.com/openbraid/braid/internal/files/tree"
)

// feed reads what is sent. fill may be called from many goroutines, next from one at a time.
type feed struct {
	src    *tree.Source
	stream io.Reader

	mu      sync.Mutex
	open    map[int]*shared // files of several pieces
	changed []int           // files that were written to meanwhile
}

// shared is a file that several read.
type shared struct {
	f    *os.File
	left uint64 // bytes that nobody has read
}

func newFeed(src *tree.Source, stream io.Reader) *feed {
	return &feed{src: src, stream: stream, open: map[int]*shared{}}
}

// fill reads parts of files, one behind the other.
func (d *feed) fill(ext []dialogue.Extent, b []byte) (n int, err error) {
	for _, x := range ext {
		if err := d.read(x, b[n:n+x.Length]); err != nil {
			return n, err
		}
		n += x.Length
	}
	return n, nil
}

func (d *feed) read(x dialogue.Extent, b []byte) error {
	if held := d.src.Held(x.File); held != nil {
		copy(b, held[x.Offset:])
		return nil
	}
	f, err := d.file(x)
	if err != nil {
		return err
	}
	_, err = f.ReadAt(b, int64(x.Offset))
	if errors.Is(err, io.EOF) {
		err = d.src.Early(x.File, f)
	}
	if x.Whole || d.last(x) {
		d.done(x.File, f)
	}
	return err
}

func (d *feed) file(x dialogue.Extent) (*os.File, error) {
	if x.Whole {
		return d.src.File(x.File)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.open[x.File]; s != nil {
		return s.f, nil
	}
	f, err := d.src.File(x.File)
	if err == nil {
		d.open[x.File] = &shared{f, d.src.List[x.File].Size}
	}
	return f, err
}

// last says whether nobody will read the file any more.
func (d *feed) last(x dialogue.Extent) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.open[x.File]
	if s.left -= uint64(x.Length); s.left > 0 {
		return false
	}
	delete(d.open, x.File)
	return true
}

// done closes a file that was read.
func (d *feed) done(i int, f *os.File) {
	if d.src.Changed(i, f) {
		d.mu.Lock()
		d.changed = append(d.changed, i)
		d.mu.Unlock()
	}
	f.Close()
}

// close closes what is open yet.
func (d *feed) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.open {
		s.f.Close()
	}
	d.open = nil
}

// next reads from the stream until b is full or it ends. A read can't be interrupted: it is left alone when the context is over.
func (d *feed) next(ctx context.Context, b []byte) (n int, last bool, err error) {
	type result struct {
		n   int
		err error
	}
	read := make(chan result, 1)
	go func() {
		n, err := io.ReadFull(d.stream, b)
		read <- result{n, err}
	}()
	select {
	case r := <-read:
		if errors.Is(r.err, io.EOF) || errors.Is(r.err, io.ErrUnexpectedEOF) {
			return r.n, true, nil
		}
		return r.n, false, r.err
	case <-ctx.Done():
		return 0, false, context.Cause(ctx)
	}
}
