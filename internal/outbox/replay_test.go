package outbox

import (
	"testing"

	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// TestMustFollow: the signal of a put that a lost lane handed back waits as long as another frame of that put is not executed, and for nothing else.
func TestMustFollow(t *testing.T) {
	for _, c := range []struct {
		id     uint8
		frames uint32 // of the put, the signal's among them
		want   bool
	}{{wire.IDPutSignal, 1, false}, {wire.IDPutSignal, 2, true}, {wire.IDPutSignal, 9, true}, {wire.IDPut, 2, false}} {
		q := new(request.Request)
		q.Frames = c.frames
		first := &replay{frame: transport.Frame{ID: c.id}, done: (*request.Frames)(q)}
		again := &replay{frame: first.frame, done: first} // lost a second time
		for _, r := range []*replay{first, again} {
			if got := r.mustFollow(); got != c.want {
				t.Errorf("frame %d of a put with %d frames left: must follow %v", c.id, c.frames, got)
			}
		}
	}
	if (&replay{frame: transport.Frame{ID: wire.IDPutSignal}}).mustFollow() {
		t.Error("a signal whose put has ended waits for it")
	}
}
