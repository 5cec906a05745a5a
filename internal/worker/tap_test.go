package worker_test

import (
	"fmt"

	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// tap is a transport that logs what arrives, between a transport and the engine.
type tap struct {
	transport.Transport
	log func(string)
}

type tapIface struct {
	transport.Iface
	log func(string)
}

type tapSink struct {
	transport.Sink
	log  func(string)
	name func() string
}

type tapAcceptor struct {
	transport.Acceptor
	log func(string)
}

func (t tap) Open(e transport.Env) (transport.Iface, error) {
	i, err := t.Transport.Open(e)
	return tapIface{i, t.log}, err
}

func (t tapIface) Dial(local, remote string, o transport.Options, s transport.Sink) (transport.Endpoint, error) {
	var ep transport.Endpoint
	ep, err := t.Iface.Dial(local, remote, o, tapSink{s, t.log, func() string { return ep.Local() }})
	return ep, err
}

func (t tapIface) Listen(addr string, a transport.Acceptor) (transport.Listener, error) {
	return t.Iface.Listen(addr, tapAcceptor{a, t.log})
}

func (t tapAcceptor) Accepted(ep transport.Endpoint) (transport.Sink, transport.Options) {
	s, o := t.Acceptor.Accepted(ep)
	if s == nil {
		return nil, o
	}
	return tapSink{s, t.log, func() string { return ep.Local() }}, o
}

func (t tapSink) Frame(in *transport.Incoming) {
	t.log(fmt.Sprintf("%s: %s", t.name(), describe(in)))
	t.Sink.Frame(in)
}

func (t tapSink) OnError(err error) transport.Decision {
	t.log(fmt.Sprintf("%s: broke: %v", t.name(), err))
	return t.Sink.OnError(err)
}

// describe is a frame in one line.
func describe(in *transport.Incoming) string {
	switch in.ID {
	case wire.IDLost:
		if m, err := wire.DecodeLost(in.Head); err == nil {
			have := 0
			if m.Have {
				have = 1
			}
			return fmt.Sprintf("LOST %v position=%d have=%d", m.Instance, m.Position, have)
		}
	case wire.IDGone:
		if m, err := wire.DecodeGone(in.Head); err == nil {
			return fmt.Sprintf("GONE %v", m.Instance)
		}
	case wire.IDHello:
		if m, err := wire.DecodeHello(in.Head); err == nil {
			return fmt.Sprintf("Hello %v", m.Instance)
		}
	case wire.IDHelloAck:
		if m, err := wire.DecodeHelloAck(in.Head); err == nil {
			return fmt.Sprintf("HelloAck %v", m.Instance)
		}
	case wire.IDBusy:
		if m, err := wire.DecodeBusy(in.Head); err == nil {
			return fmt.Sprintf("Busy %v", m.Instance)
		}
	}
	if in.Class == transport.Data {
		return fmt.Sprintf("%s payload=%d", wire.Name(in.ID), len(in.Payload))
	}
	return wire.Name(in.ID)
}
