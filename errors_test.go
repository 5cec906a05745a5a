package braid_test

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// TestErrorsSayWhatToDo: what users meet first says what failed, where, why, and what can be done.
func TestErrorsSayWhatToDo(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{Times: braid.Times{Handshake: 300 * time.Millisecond}}, braid.Options{})
	gone := nobody(t)
	silent := server(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	w := worker(t, braid.Options{Times: braid.Times{Handshake: 300 * time.Millisecond}})
	dial := func(addr string) error { _, err := w.Dial(ctx, addr); return err }
	listen := func(addr string) error { _, err := w.Listen(addr); return err }
	post := func(head, text int) error { return p.a.SendAM(ctx, 1, make([]byte, head), make([]byte, text)) }
	alloc := func(n int) error { _, err := w.Node().Alloc(n); return err }
	unhandled := func() error {
		if err := p.a.SendAM(ctx, 999, nil, nil); err != nil {
			return err
		}
		return p.a.Flush(ctx)
	}
	deregistered := func() error {
		mem, err := p.bn.Alloc(8)
		if err != nil {
			return err
		}
		key, err := braid.ParseRKey(mem.Key(braid.Write).Bytes())
		if err = errors.Join(err, mem.Deregister(), p.a.Put(ctx, []byte("x"), key, 0)); err != nil {
			return err
		}
		return p.a.Flush(ctx)
	}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"nobody there":        {dial(gone), "dial " + gone + ": no lane to the peer could be set up: " + gone + ": |connection refused (nobody listens there: start the peer first, or check the address)"},
		"no braid":            {dial(silent), "dial " + silent + "|the peer did not answer in time (setting handshake)|it is no braid peer"},
		"no port":             {dial("127.0.0.1"), "dial 127.0.0.1: |write host:port"},
		"a port by its name":  {dial("127.0.0.1:http"), `dial 127.0.0.1:http: port "http": want a number from 0 to 65535`},
		"a port too large":    {listen("127.0.0.1:70000"), `listen 127.0.0.1:70000: port "70000": want a number`},
		"in use":              {listen(silent), "listen " + silent + "|address already in use (somebody listens there already: choose another port, or port 0)"},
		"no such address":     {listen("192.0.2.99:0"), "listen 192.0.2.99:0|(no interface has this address)"},
		"message too large":   {post(0, 65<<20), "message of 68157440 bytes, the peer takes at most 67108864; put it into its memory instead, or raise its setting message"},
		"header too large":    {post(2000, 0), "header of 2000 bytes, at most 1024; the payload has more room"},
		"nobody handles it":   {unhandled(), "am |the peer has no handler for this active message: it must set one before others send: id 999"},
		"no key":              {p.a.Put(ctx, nil, braid.RKey{}, 0), "put |the zero RKey is of no memory; ask the peer for one"},
		"deregistered":        {deregistered(), "put |unknown key: its memory was deregistered, or it is of another node"},
		"alloc less":          {alloc(-1), "alloc: size -1 is negative"},
		"alloc more than all": {alloc(1 << 60), "alloc: a limit is reached: size 1152921504606846976 is more than a process can have"},
	} {
		for want := range strings.SplitSeq(c.want, "|") {
			if c.err == nil || !strings.Contains(c.err.Error(), want) {
				t.Errorf("%s: %v\nlacks %s", name, c.err, want)
			}
		}
	}
}

// TestErrorsOfNoOperation: that an endpoint is over is nothing that may have been executed.
func TestErrorsOfNoOperation(t *testing.T) {
	for op, want := range map[string]bool{"put": true, "endpoint": false, "close": false} {
		err := &braid.OpError{Op: op, Fate: braid.Unknown, Err: braid.ErrClosed}
		if got := strings.Contains(err.Error(), "executed"); got != want {
			t.Errorf("%v", err)
		}
	}
}
