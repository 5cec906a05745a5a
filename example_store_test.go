package braid_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log"
	"sync"
	"time"

	"github.com/openbraid/braid"
)

// A store of keys and values in the memory of a server whose program does nothing for it. A slot is
//
//	| version 8: odd while somebody writes | key 24 | value 32 |
const (
	slots    = 64
	slotSize = 64
	keySize  = 24
)

// store is a client's view of it.
type store struct {
	ep  *braid.Endpoint
	mem braid.RKey
}

func (s store) slot(key string) uint64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key))
	return uint64(h.Sum32()%slots) * slotSize
}

// set locks the slot by its version, writes, and gives it the next one. Whoever else has the lock is waited for.
func (s store) set(ctx context.Context, key, value string) error {
	at := s.slot(key)
	version := s.ep.Word64(s.mem, at)
	for {
		v, err := version.FetchAdd(ctx, 0)
		if err != nil {
			return err
		}
		if v%2 == 1 {
			continue
		}
		if was, err := version.CompareSwap(ctx, v, v+1); err != nil {
			return err
		} else if was != v {
			continue
		}
		entry := make([]byte, slotSize-8)
		copy(entry, key)
		copy(entry[keySize:], value)
		if err := s.ep.Put(ctx, entry, s.mem, at+8); err != nil {
			return err
		}
		s.ep.Fence() // the version changes behind the entry, over whatever lanes
		return version.Add(ctx, 1)
	}
}

var errNone = errors.New("no such key")

// get takes no lock: it reads the version, the entry, and the version again.
func (s store) get(ctx context.Context, key string) (string, error) {
	at := s.slot(key)
	var before, entry, after [slotSize]byte
	for {
		if err := s.ep.Get(ctx, before[:8], s.mem, at); err != nil {
			return "", err
		}
		if err := s.ep.Get(ctx, entry[8:], s.mem, at+8); err != nil {
			return "", err
		}
		if err := s.ep.Get(ctx, after[:8], s.mem, at); err != nil {
			return "", err
		}
		if before[0]%2 == 1 || before != after {
			continue // somebody was writing
		}
		if string(bytes.TrimRight(entry[8:8+keySize], "\x00")) != key {
			return "", errNone
		}
		return string(bytes.TrimRight(entry[8+keySize:], "\x00")), nil
	}
}

// Example_store is a key-value store by gets and an atomic lock in each slot: a server that only lends its memory, and clients that write the same key
// at once, over two lanes each.
func Example_store() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	server, err := braid.Open(braid.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	mem, err := server.Alloc(slots * slotSize)
	if err != nil {
		log.Fatal(err)
	}
	sw, err := server.NewWorker()
	check(err)
	ln, err := sw.Listen("127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	key := mem.Key(braid.Read | braid.Write | braid.Atomic)

	client, err := braid.Open(braid.Options{Lanes: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	w, err := client.NewWorker()
	check(err)
	var busy sync.WaitGroup
	for i := range 3 {
		ep, err := w.Dial(ctx, ln.Addr())
		if err != nil {
			log.Fatal(err)
		}
		defer ep.Close(ctx)
		busy.Go(func() {
			s := store{ep, key}
			for n := range 20 {
				if err := s.set(ctx, "color", fmt.Sprintf("%c%c%c", 'a'+i, 'a'+n, 'a'+i)); err != nil {
					log.Fatal(err)
				}
				v, err := s.get(ctx, "color")
				if err != nil || len(v) != 3 || v[0] != v[2] {
					log.Fatalf("a torn value: %q, %v", v, err)
				}
			}
		})
	}
	busy.Wait()

	ep, err := w.Dial(ctx, ln.Addr())
	if err != nil {
		log.Fatal(err)
	}
	defer ep.Close(ctx)
	s := store{ep, key}
	if err := s.set(ctx, "color", "green"); err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.get(ctx, "color"))
	fmt.Println(s.get(ctx, "taste"))
	// Output:
	// green <nil>
	//  no such key
}
