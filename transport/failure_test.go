package transport_test

import (
	"errors"
	"io"
	"testing"

	"github.com/openbraid/braid/transport"
)

// TestErrorText: who, what, why and what to do, each once.
func TestErrorText(t *testing.T) {
	twice := errors.Join(transport.ErrReset)
	for want, e := range map[string]transport.Error{
		"tcp: open: EOF":                                      {Transport: "tcp", Op: "open", Err: io.EOF},
		"rc: listen a: EOF (do it)":                           {Transport: "rc", Op: "listen", Local: "a", Err: io.EOF, Hint: "do it"},
		"rc: dial b from a: EOF":                              {Transport: "rc", Op: "dial", Local: "a", Remote: "b", Err: io.EOF},
		"rc: send b: transport: connection reset: EOF":        {Transport: "rc", Op: "send", Remote: "b", Kind: transport.ErrReset, Err: io.EOF},
		"rc: send b: transport: connection reset":             {Transport: "rc", Op: "send", Remote: "b", Kind: transport.ErrReset, Err: twice},
		"rc: receive b: transport: connection closed by peer": {Transport: "rc", Op: "receive", Remote: "b", Kind: transport.ErrPeerClosed},
	} {
		if got := e.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if e.Kind != nil && !errors.Is(&e, e.Kind) || e.Err == io.EOF && !errors.Is(&e, io.EOF) {
			t.Errorf("%v is neither its kind nor its cause", &e)
		}
	}
}
