package stream

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/openbraid/braid/fault"
)

// serveHTTP is an http.Server and a client over the lanes. closed counts streams that are over.
func serveHTTP(t *testing.T, s *sides, h http.Handler) (c *http.Client, closed *atomic.Int32) {
	closed = new(atomic.Int32)
	srv := &http.Server{Handler: h, ConnState: func(_ net.Conn, st http.ConnState) {
		if st == http.StateClosed {
			closed.Add(1)
		}
	}}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(s.ln) }()
	tr := &http.Transport{DialContext: s.cm.DialContext, MaxIdleConnsPerHost: 100}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		if err := srv.Shutdown(within(t)); err != nil {
			t.Error(err)
		}
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return &http.Client{Transport: tr}, closed
}

// TestHTTPUnderCuts: while lanes are cut in turn, no request fails, no body is damaged, and no stream is lost.
func TestHTTPUnderCuts(t *testing.T) {
	s := newSides(t)
	client, closed := serveHTTP(t, s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.Write(body)
	}))
	const users = 4
	stop := make(chan struct{})
	var all sync.WaitGroup
	var requests atomic.Int32
	for user := range users {
		all.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(user)))
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := echo(client, s.addr(), r); err != nil {
					t.Error(err)
					return
				}
				requests.Add(1)
			}
		})
	}
	s.cuts(8)
	close(stop)
	all.Wait()
	t.Logf("%d requests, %d lanes lost", requests.Load(), s.down.Load())
	if n := closed.Load(); n > 0 {
		t.Errorf("%d streams were lost", n)
	}
}

// echo sends a body of some size, and wants it back.
func echo(c *http.Client, addr string, r *rand.Rand) error {
	body := make([]byte, []int{0, 1, 1000, 100_000, 1_000_000}[r.IntN(5)])
	for i := range body {
		body[i] = byte(r.Uint32())
	}
	resp, err := c.Post("http://"+addr+"/", "application/octet-stream", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if sha256.Sum256(got) != sha256.Sum256(body) {
		return fmt.Errorf("%d bytes were sent, %d others came back", len(body), len(got))
	}
	return nil
}

// TestHTTPInFlight: a request that has half of its answer when a lane is lost gets the other half, whichever lane it is and however it is lost.
func TestHTTPInFlight(t *testing.T) {
	s := newSides(t)
	goOn := make(chan struct{})
	half := bytes.Repeat([]byte("half "), 100_000)
	client, closed := serveHTTP(t, s, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write(half)
		http.NewResponseController(w).Flush()
		<-goOn
		w.Write(half)
	}))
	for i, kind := range []fault.Kind{fault.Reset, fault.Reset, fault.Silence, fault.Silence} {
		resp, err := client.Get("http://" + s.addr() + "/")
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(half))
		if _, err := io.ReadFull(resp.Body, got); err != nil || !bytes.Equal(got, half) {
			t.Fatalf("the first half: %v", err)
		}
		s.cut(i%2, kind)
		goOn <- struct{}{}
		if rest, err := io.ReadAll(resp.Body); err != nil || !bytes.Equal(rest, half) {
			t.Fatalf("the second half is of %d bytes, %v", len(rest), err)
		}
		resp.Body.Close()
	}
	if n := closed.Load(); n > 0 {
		t.Errorf("%d streams were lost", n)
	}
}

// TestHTTPAborted: a handler that gives up closes its stream, and the client hears of it.
func TestHTTPAborted(t *testing.T) {
	s := newSides(t)
	client, _ := serveHTTP(t, s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		panic(http.ErrAbortHandler)
	}))
	if resp, err := client.Get("http://" + s.addr() + "/"); err == nil {
		t.Errorf("an answer: %s", resp.Status)
	}
}
