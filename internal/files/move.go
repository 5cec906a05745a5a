package files

import (
	"context"
	"crypto/sha256"
	"sync"

	"github.com/openbraid/braid/internal/files/dialogue"
)

// piece is one that is being sent.
type piece struct {
	n      uint64
	ext    []dialogue.Extent
	buf    []byte // its bytes; of an open file they are read already
	last   bool   // of an open file
	filled bool
}

// pieces sends all of them.
func (s *Sender) pieces() error {
	var wg sync.WaitGroup
	for range min(movers, len(s.bufs)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := s.mover(); err != nil {
				s.end(err)
			}
		}()
	}
	wg.Wait()
	s.feed.close()
	return context.Cause(s.ctx)
}

// mover takes pieces until none is left.
func (s *Sender) mover() error {
	for {
		p, ok, err := s.take()
		if err != nil || !ok {
			return err
		}
		if err := s.move(p); err != nil {
			return s.why(err)
		}
	}
}

// take is the next piece. Pieces are taken in order, each when it has a place: the window slides.
func (s *Sender) take() (p piece, ok bool, err error) {
	select {
	case <-s.turn:
	case <-s.ctx.Done():
		return p, false, context.Cause(s.ctx)
	}
	defer func() { s.turn <- struct{}{} }()
	if s.ctx.Err() != nil { // who had the turn before may still read
		return p, false, context.Cause(s.ctx)
	}
	if p.ext, ok = s.cut.Next(nil); !ok {
		return p, false, nil
	}
	if p.n, err = s.room(); err != nil {
		return p, false, err
	}
	i := p.n % uint64(len(s.bufs))
	if s.bufs[i] == nil {
		s.bufs[i] = make([]byte, dialogue.PieceBytes)
	}
	p.buf = s.bufs[i]
	s.reading.Store(int64(p.ext[0].File) + 1)
	if s.src.Open() {
		err = s.readOpen(&p)
	}
	return p, err == nil, err
}

// room waits for a place.
func (s *Sender) room() (uint64, error) {
	for {
		s.mu.Lock()
		n, ok := s.out.Take()
		s.mu.Unlock()
		if ok {
			return n, nil
		}
		select {
		case <-s.again:
		case <-s.ctx.Done():
			return 0, context.Cause(s.ctx)
		}
	}
}

// readOpen reads a piece of a file without a size. That has an order, so it is done by who has the turn.
func (s *Sender) readOpen(p *piece) error {
	n, last, err := s.feed.next(s.ctx, p.buf)
	if err != nil {
		return err
	}
	if last {
		s.cut.End()
	}
	p.ext[0].Length, p.buf, p.last, p.filled = n, p.buf[:n], last, true
	return nil
}

// move reads a piece, puts it, hashes it meanwhile, and announces it when it is executed.
func (s *Sender) move(p piece) error {
	if !p.filled {
		n, err := s.feed.fill(p.ext, p.buf)
		if err != nil {
			return err
		}
		p.buf = p.buf[:n]
	}
	place := p.n % uint64(len(s.bufs))
	put := s.ep.PostPut(p.buf, s.key, place*dialogue.PieceBytes)
	d := dialogue.Data{N: p.n, Length: uint32(len(p.buf)), Last: p.last, Sums: make([]dialogue.Sum, len(p.ext))}
	at := 0
	for i, x := range p.ext {
		d.Sums[i] = sha256.Sum256(p.buf[at : at+x.Length])
		at += x.Length
	}
	if err := put.Wait(s.ctx); err != nil {
		return err
	}
	if err := s.ep.Flush(s.ctx); err != nil {
		return err
	}
	s.mu.Lock()
	s.out.Announced(len(p.buf))
	s.lengths[place] = len(p.buf)
	s.mu.Unlock()
	return s.say(s.ctx, d)
}
