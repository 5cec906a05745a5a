package perf_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/perf"
	"github.com/openbraid/braid/internal/perf/child"
	"go.uber.org/goleak"
)

// role makes the test binary a server.
const role = "BRAID_PERF_TEST_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(role) != "" {
		ctx, cancel := context.WithCancelCause(context.Background())
		child.Guard(os.Stdin, func() { cancel(io.EOF) })
		err := perf.Serve(ctx, perf.ServerParams{Listen: "127.0.0.1:0", Once: true, Listening: func(a string) { child.Announce(os.Stdout, a) }})
		if err != nil && !errors.Is(err, io.EOF) {
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func TestSpawn(t *testing.T) {
	t.Setenv(role, "1")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	server, err := child.Spawn(context.Background(), []string{self}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Kill()
	if _, err := perf.Run(within(t, 2*time.Minute), server.Addr, perf.Params{Test: "put_bw", Size: 4096, Iterations: 100, Verify: true}, nil); err != nil {
		t.Fatal(err)
	}
	if err := server.Wait(); err != nil {
		t.Error(err)
	}
}

func TestSpawnFails(t *testing.T) {
	var errOut bytes.Buffer
	if _, err := child.Spawn(context.Background(), []string{"/does/not/exist"}, &errOut); err == nil {
		t.Error("started what does not exist")
	}
	if _, err := child.Spawn(context.Background(), []string{"true"}, &errOut); err == nil || !strings.Contains(err.Error(), "before it listened") {
		t.Error(err)
	}
}

func TestGuard(t *testing.T) {
	r, w := io.Pipe()
	ended := make(chan struct{})
	child.Guard(r, func() { close(ended) })
	select {
	case <-ended:
		t.Fatal("ended before its parent")
	case <-time.After(20 * time.Millisecond):
	}
	w.Close()
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		t.Fatal("outlives its parent")
	}
}
