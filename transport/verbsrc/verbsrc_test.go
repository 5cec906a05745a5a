package verbsrc_test

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/openbraid/braid/rdma/verbs"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc"
	"github.com/openbraid/braid/transport/verbsrc"
)

// TestNotBuilt: a program without the code for adapters says how to get it, when it is to use one.
func TestNotBuilt(t *testing.T) {
	if verbs.Built {
		return
	}
	i, err := verbsrc.New(verbsrc.Options{RC: rc.Options{TrustNetwork: true}}).Open(transport.Env{
		Now: func() time.Duration { return 1 }, Rand: func() uint64 { return 1 }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close()
	if _, err := i.Listen("10.0.0.1:0", nil); !errors.Is(err, verbs.ErrNotBuilt) {
		t.Errorf("listen: %v", err)
	}
	if _, err := i.Dial("10.0.0.1", "10.0.0.2:7000", transport.Options{}, nil); !errors.Is(err, verbs.ErrNotBuilt) {
		t.Errorf("dial: %v", err)
	}
}
