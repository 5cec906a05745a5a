package worker

import (
	"time"

	"github.com/openbraid/braid/internal/wire"
)

type liveness struct{ tick *timer }

func (v *liveness) init(ep *Endpoint)     { v.tick = newTimer(func() {}) }
func (v *liveness) add(*link)             {}
func (v *liveness) remove(*link)          {}
func (v *liveness) pong(*link, wire.Pong) {}
func (ep *Endpoint) posted()              {}

type tmpBackoff struct{ d, min, max time.Duration }

func (b *tmpBackoff) Next() time.Duration {
	if b.d == 0 {
		b.d = b.min
	} else {
		b.d = min(2*b.d, b.max)
	}
	return b.d
}
func (b *tmpBackoff) Reset() { b.d = 0 }
