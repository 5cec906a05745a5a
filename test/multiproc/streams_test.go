package multiproc

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/openbraid/braid"
)

// amStream carries a number and its checksum; they must come in order, each once.
const amStream = 4

// fromEnv are options that people may have changed by variables, with the job's times.
func fromEnv(s *self, j job) braid.Options {
	o, err := braid.FromEnv()
	s.must(err)
	o.Rails, o.Times = j.Rails, brisk(j)
	o.Times.DialWait = time.Minute // who waits for a bad lane is seen to wait
	o.OnEvent = func(e braid.Event) {
		s.say("%s %s %v", strings.ToLower(e.Kind.String()), e.Lane, e.Err)
	}
	return o
}

// take is a server that takes numbered messages and writes.
func take(s *self, j job) {
	n, err := braid.Open(fromEnv(s, j))
	s.must(err)
	defer n.Close()
	w, err := n.NewWorker()
	s.must(err)
	var next atomic.Uint64
	w.HandleAM(amStream, func(m *braid.Message) {
		number := binary.LittleEndian.Uint64(m.Header())
		if want := next.Load(); number != want {
			s.die("message %d came, %d was due", number, want)
		}
		if sum := crc32.ChecksumIEEE(m.Payload()); sum != binary.LittleEndian.Uint32(m.Header()[8:]) {
			s.die("message %d: its checksum is wrong", number)
		}
		next.Add(1)
	})
	w.HandleAM(amCount, func(*braid.Message) {})
	mem, err := n.Alloc(max(j.Size, 8))
	s.must(err)
	s.say("key %x", mem.Key(braid.Write).Bytes())
	ln, err := w.Listen(j.Addr)
	if err != nil {
		s.say("error %v", err)
		return
	}
	s.say("addr %s", ln.Addr())
	go func() {
		for {
			if _, err := ln.Accept(context.Background()); err != nil {
				return
			}
		}
	}()
	for command := range s.heard {
		if command == "taken" {
			w.Progress()
			s.say("taken %d %d", next.Load(), crc32.ChecksumIEEE(mem.Bytes()))
			continue
		}
		obey(s, w, mem, command)
	}
}

const (
	streamSlots = 16
	streamBlock = 48 << 10
)

// stream dials, and sends numbered messages and writes until it is told to stop.
func stream(s *self, j job) {
	n, err := braid.Open(fromEnv(s, j))
	s.must(err)
	defer n.Close()
	w, err := n.NewWorker()
	s.must(err)
	ctx, cancel := context.WithTimeout(context.Background(), lifetime)
	defer cancel()
	since := time.Now()
	ep, err := w.Dial(ctx, j.Addr)
	if err != nil {
		s.say("error %v", strings.ReplaceAll(err.Error(), "\n", "; "))
		return
	}
	s.say("dialed %d %v", len(ep.Lanes()), time.Since(since).Round(time.Millisecond))
	s.say("lanes %s", lanesOf(ep))
	key, err := braid.ParseRKey(j.Key)
	s.must(err)
	mem := make([]byte, streamSlots*streamBlock)
	for number := uint64(0); ; number++ {
		select {
		case command := <-s.heard:
			if command == "stop" {
				s.must(ep.Flush(ctx))
				s.must(ep.Close(ctx))
				s.say("sent %d %d", number, crc32.ChecksumIEEE(mem))
				os.Exit(0)
			}
			s.say("lanes %s", lanesOf(ep))
		default:
		}
		slot := int(number % streamSlots)
		block := pattern(mem[slot*streamBlock:(slot+1)*streamBlock], number)
		put := ep.PostPut(block, key, uint64(slot*streamBlock))
		payload := block[:1+int(number*7919)%len(block)]
		h := binary.LittleEndian.AppendUint64(nil, number)
		s.must(ep.SendAM(ctx, amStream, binary.LittleEndian.AppendUint32(h, crc32.ChecksumIEEE(payload)), payload))
		s.must(put.Wait(ctx))
		if slot == streamSlots-1 { // writes have no order, and the next round writes there again
			s.must(ep.Flush(ctx))
			time.Sleep(j.Pause)
		}
	}
}

// lanesOf are the lanes that are up: hosts, without the ports.
func lanesOf(ep *braid.Endpoint) string {
	var names []string
	for _, l := range ep.Lanes() {
		if l.State == "up" {
			names = append(names, fmt.Sprintf("%s->%s", hostOf(l.Local), hostOf(l.Remote)))
		}
	}
	return strings.Join(names, " ")
}

func hostOf(addr string) string { return addr[:strings.LastIndex(addr, ":")] }
