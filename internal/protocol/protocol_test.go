package protocol

import (
	"testing"

	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/transport"
)

// One frame is filled again and again: nothing of the one before stays in it.
func TestNextForgetsTheFrameBefore(t *testing.T) {
	var pool request.Pool
	for _, kind := range []request.Kind{request.Put, request.AM, request.Get} {
		r := pool.Get(kind, nil)
		r.Payload = make([]byte, 8)
		f := transport.Frame{Class: transport.Control, Payload: make([]byte, 99), ZeroCopy: true, AckNow: true, Tag: 7}
		if !Next(r, Limits{MaxFrame: 4096}, make([]byte, 0, 256), &f) {
			t.Fatalf("%v: no frame", kind)
		}
		want := transport.Frame{ID: f.ID, Head: f.Head, Payload: f.Payload, Done: r.Done()}
		if f.AckNow || f.ZeroCopy || f.Class != want.Class || f.Tag != want.Tag || len(f.Payload) > 8 || f.Done != want.Done {
			t.Errorf("%v: %+v", kind, f)
		}
	}
}
