package wire_test

import (
	"bytes"

	"github.com/openbraid/braid/internal/wire"
)

// appender is what every message is.
type appender interface{ AppendTo([]byte) []byte }

// field is one line of a golden file and one row of docs/wire.md.
type field struct {
	name string
	size int
	kind kind
}

type kind uint8

const (
	number kind = iota
	bits        // a number that people read in hex
	raw
	text
	zero // reserved
)

// message is one example of one message, with everything that the tests need to know of it.
type message struct {
	file   string // testdata/<file>.golden
	name   string // as in wire.Name and docs/wire.md
	sample appender
	decode func([]byte) (appender, error)
	fields []field
	tlv    bool
	badErr error        // what its decoder's errors match
	fixup  func([]byte) // makes a checksum right again
}

func sample[T appender](file, name string, v T, decode func([]byte) (T, error), fields ...field) message {
	return message{
		file: file, name: name, sample: v, fields: fields, badErr: wire.ErrFormat,
		decode: func(b []byte) (appender, error) { return decode(b) },
	}
}

func num(name string, size int) field { return field{name, size, number} }
func pad(size int) field              { return field{"reserved", size, zero} }
func hex(name string, size int) field { return field{name, size, raw} }

func instance() []field { return []field{num("opener", 1), pad(7), num("n", 8)} }

func join(parts ...[]field) (all []field) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func tlv(name string, fields ...field) []field {
	return append([]field{{name + " type", 2, bits}, num(name+" length", 2)}, fields...)
}

var (
	nonce = [16]byte{0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf}
	proof = wire.Proof(bytes.Repeat([]byte{0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7}, 4))
	key   = wire.JoinKey{0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xbb, 0xbc, 0xbd, 0xbe, 0xbf}

	firstHello = wire.Hello{
		Optional: wire.CapHandover,
		Instance: wire.Instance{Opener: wire.Dialer, N: 1}, Incarnation: 0x1112131415161718, Endpoint: 0x2122232425262728,
		Nonce: nonce, Mode: wire.ModeFailover, MaxFrame: 256 << 10, MaxMessage: 1 << 30, Backlog: 1 << 26, ReplyCredits: 64,
		Keepalive: 1000, PeerTimeout: 10000, Name: "node-ä",
	}
	joinHello = wire.Hello{
		Required: wire.CapHandover, Optional: 0x80000000,
		Instance: wire.Instance{Opener: wire.Acceptor, N: 7}, Incarnation: 0x1112131415161718, Endpoint: 0x2122232425262728,
		PeerIncarnation: 0x3132333435363738, PeerEndpoint: 0x4142434445464748,
		Nonce: nonce, Mode: wire.ModePeer, MaxFrame: 64 << 10, MaxMessage: 1 << 40, Backlog: 1 << 24, ReplyCredits: 32,
		Join: wire.JoinProof(key), Keepalive: 500, PeerTimeout: 2000,
	}
	firstAck = wire.HelloAck{
		Optional: wire.CapHandover,
		Instance: wire.Instance{Opener: wire.Dialer, N: 1}, Incarnation: 0x3132333435363738, Endpoint: 0x4142434445464748,
		Nonce: nonce, Mode: wire.ModeFailover, MaxFrame: 64 << 10, MaxMessage: 1 << 30, Backlog: 1 << 26, ReplyCredits: 32,
		JoinKey: key, Addrs: []string{"10.0.0.1:7777", "[fe80::1%eth0]:7777"}, Name: "store",
	}
	joinAck = wire.HelloAck{
		Instance: wire.Instance{Opener: wire.Acceptor, N: 7}, Incarnation: 0x3132333435363738, Endpoint: 0x4142434445464748,
		Nonce: nonce, Mode: wire.ModePeer, MaxFrame: 64 << 10, MaxMessage: 1 << 30, Backlog: 1 << 26, ReplyCredits: 32,
		Join: wire.JoinProof(key),
	}
)

func prefaceFields() []field {
	return []field{hex("magic", 8), num("major", 2), num("minor", 2), {"flags", 4, bits}, hex("nonce", 16), hex("proof", 32)}
}

func helloFields(first bool) []field {
	f := join(
		[]field{{"required capabilities", 4, bits}, {"optional capabilities", 4, bits}},
		tlv("instance", instance()...),
		tlv("self", field{"incarnation", 8, bits}, field{"endpoint", 8, bits}))
	if !first {
		f = join(f, tlv("peer", field{"peer incarnation", 8, bits}, field{"peer endpoint", 8, bits}))
	}
	f = join(f, commonFields())
	f = join(f, tlv("timers", num("keepalive ms", 4), num("peer timeout ms", 4)))
	if first {
		return join(f, tlv("name", field{"text", 7, text}))
	}
	return join(f, tlv("join proof", hex("join proof", 16)))
}

func commonFields() []field {
	return join(
		tlv("nonce", hex("nonce", 16)),
		tlv("mode", num("mode", 1)),
		tlv("limits", num("max frame", 4), num("reply credits", 4), num("max message", 8), num("backlog", 8)))
}

func ackFields(first bool) []field {
	f := join(
		[]field{{"required capabilities", 4, bits}, {"optional capabilities", 4, bits}},
		tlv("instance", instance()...),
		tlv("self", field{"incarnation", 8, bits}, field{"endpoint", 8, bits}),
		commonFields())
	if !first {
		return join(f, tlv("join proof", hex("join proof", 16)))
	}
	return join(f, tlv("join key", hex("key", 16)), tlv("name", field{"text", 5, text}),
		tlv("addresses",
			num("address length", 1), field{"address", 13, text},
			num("address length", 1), field{"address", 19, text}))
}

// samples is every message, in the order of the frame IDs; the RKey last.
func samples() []message {
	all := append(controlSamples(), dataSamples()...)
	for i := range all {
		switch all[i].name {
		case "Hello", "HelloAck":
			all[i].tlv = true
		case "RKey":
			all[i].badErr = wire.ErrRKey
			all[i].fixup = checkRKey
		}
	}
	return all
}

func controlSamples() []message {
	id := wire.Instance{Opener: wire.Acceptor, N: 0x0102030405060708}
	return []message{
		sample("preface", "Preface", wire.Preface{Version: wire.Version{Major: 1}, Nonce: nonce}, wire.DecodePreface,
			prefaceFields()...),
		sample("preface-secret", "Preface", wire.Preface{Version: wire.Version{Major: 1}, Flags: wire.FlagSecret, Nonce: nonce, Proof: proof}, wire.DecodePreface,
			prefaceFields()...),
		sample("hello-first", "Hello", firstHello, wire.DecodeHello, helloFields(true)...),
		sample("hello-join", "Hello", joinHello, wire.DecodeHello, helloFields(false)...),
		sample("helloack-first", "HelloAck", firstAck, wire.DecodeHelloAck, ackFields(true)...),
		sample("helloack-join", "HelloAck", joinAck, wire.DecodeHelloAck, ackFields(false)...),
		sample("busy", "Busy", wire.Busy{Instance: id, Nonce: nonce}, wire.DecodeBusy,
			join(instance(), []field{hex("nonce", 16)})...),
		sample("epclosed", "EPClosed", wire.EPClosed{Incarnation: 0x1112131415161718, Nonce: nonce}, wire.DecodeEPClosed,
			field{"incarnation", 8, bits}, hex("nonce", 16)),
		sample("reject", "Reject", wire.Reject{Code: wire.RejectLimit, Nonce: nonce, Text: "64 half-open handshakes"}, wire.DecodeReject,
			num("code", 2), num("length", 2), pad(4), hex("nonce", 16), field{"text", 23, text}),
		sample("lost", "Lost", wire.Lost{Instance: id, Have: true, Position: 1 << 33, Bytes: 1 << 40, Refusals: 3}, wire.DecodeLost,
			join(instance(), []field{num("have", 1), pad(7), num("position", 8), num("bytes", 8), num("refusals", 8)})...),
		sample("gone", "Gone", wire.Gone{Instance: id}, wire.DecodeGone, instance()...),
		sample("ping", "Ping", wire.Ping{Nonce: 0x5152535455565758, Time: 1_000_000_007}, wire.DecodePing,
			field{"nonce", 8, bits}, num("time ns", 8)),
		sample("pong", "Pong", wire.Pong{Nonce: 0x5152535455565758, Time: 1_000_000_007}, wire.DecodePong,
			field{"nonce", 8, bits}, num("time ns", 8)),
		sample("close", "Close", wire.Close{Code: wire.CloseAborted}, wire.DecodeClose, num("code", 2)),
		sample("closed", "Closed", wire.Closed{}, wire.DecodeClosed),
		sample("confirm", "Confirm", wire.Confirm{Proof: proof}, wire.DecodeConfirm, hex("proof", 32)),
		sample("rails", "Rails", wire.Rails{Addrs: []string{"10.0.0.1:7777"}}, wire.DecodeRails,
			num("count", 1), num("address length", 1), field{"address", 13, text}),
	}
}

func dataSamples() []message {
	return []message{
		sample("am", "AM", wire.AM{ID: 0x0102, Header: []byte("head")}, wire.DecodeAM,
			num("am", 2), num("length", 2), field{"header", 4, text}),
		sample("amfirst", "AMFirst", wire.AMFirst{ID: 0x0102, Msg: 0x6162636465666768, Total: 1 << 20, Header: []byte("head")}, wire.DecodeAMFirst,
			num("am", 2), num("length", 2), pad(4), field{"msg", 8, bits}, num("total", 8), field{"header", 4, text}),
		sample("amfrag", "AMFrag", wire.AMFrag{Msg: 0x6162636465666768, Offset: 65536}, wire.DecodeAMFrag,
			field{"msg", 8, bits}, num("offset", 8)),
		sample("put", "Put", wire.Put{Index: 0x01020304, Secret: 0x7172737475767778, Offset: 4096, Op: 0x0102030405060708}, wire.DecodePut,
			num("index", 4), pad(4), field{"secret", 8, bits}, num("offset", 8), num("op", 8)),
		sample("putsignal", "PutSignal", wire.PutSignal{Put: wire.Put{Index: 0x01020304, Secret: 0x7172737475767778, Offset: 4096, Op: 0x0102030405060708},
			Signal: wire.Signal{Index: 0x05060708, Add: true, Secret: 0x8182838485868788, Offset: 8192, Value: 3}}, wire.DecodePutSignal,
			num("index", 4), pad(4), field{"secret", 8, bits}, num("offset", 8), num("op", 8),
			num("signal index", 4), num("add", 1), pad(3), field{"signal secret", 8, bits}, num("signal offset", 8), num("value", 8)),
		sample("ampart", "AMPart", wire.AMPart{Msg: 0x6162636465666768, Offset: 65536, Total: 1 << 20}, wire.DecodeAMPart,
			field{"msg", 8, bits}, num("offset", 8), num("total", 8)),
		sample("amlast", "AMLast", wire.AMLast{ID: 0x0102, Msg: 0x6162636465666768, Total: 1 << 20, Header: []byte("head")}, wire.DecodeAMLast,
			num("am", 2), num("length", 2), pad(4), field{"msg", 8, bits}, num("total", 8), field{"header", 4, text}),
		sample("get", "Get", wire.Get{Index: 0x01020304, Size: 65536, Secret: 0x7172737475767778, Offset: 4096, Op: 0x0102030405060708, At: 131072}, wire.DecodeGet,
			num("index", 4), num("size", 4), field{"secret", 8, bits}, num("offset", 8), num("op", 8), num("at", 8)),
		sample("getdata", "GetData", wire.GetData{Op: 0x0102030405060708, At: 131072, Code: wire.RefusedKey}, wire.DecodeGetData,
			num("op", 8), num("at", 8), num("code", 4), pad(4)),
		sample("atomicop", "AtomicOp", wire.AtomicOp{Index: 0x01020304, Change: wire.ChangeCompare, Size: 8, Fetch: true, Secret: 0x7172737475767778, Offset: 4096,
			Op: 0x0102030405060708, Value: 1 << 33, Compare: 17}, wire.DecodeAtomicOp,
			num("index", 4), num("change", 1), num("size", 1), num("fetch", 1), pad(1), field{"secret", 8, bits}, num("offset", 8), num("op", 8),
			num("value", 8), num("compare", 8)),
		sample("credit", "Credit", wire.Credit{Handled: 1 << 33}, wire.DecodeCredit, num("handled", 8)),
		sample("tagged", "Tagged", wire.Tagged{Tag: 0x0102030405060708}, wire.DecodeTagged, field{"tag", 8, bits}),
		sample("tagsync", "TagSync", wire.TagSync{Tag: 0x0102030405060708, Op: 0x1112131415161718}, wire.DecodeTagSync, field{"tag", 8, bits}, num("op", 8)),
		sample("tagoffer", "TagOffer", wire.TagOffer{TagSync: wire.TagSync{Tag: 0x0102030405060708, Op: 0x1112131415161718}, Size: 1 << 26, Secret: 0x7172737475767778, Index: 0x01020304, Put: true},
			wire.DecodeTagOffer, field{"tag", 8, bits}, num("op", 8), num("size", 8), field{"secret", 8, bits}, num("index", 4), num("put", 1), pad(3)),
		sample("tagnote", "TagNote", wire.TagNote{Code: wire.TagMatched, Op: 0x1112131415161718}, wire.DecodeTagNote, num("code", 1), pad(7), num("op", 8)),
		sample("tagclear", "TagClear", wire.TagClear{Op: 0x1112131415161718, To: 0x0102030405060708, Size: 1 << 26}, wire.DecodeTagClear, num("op", 8), num("to", 8), num("size", 8)),
		sample("tagput", "TagPut", wire.TagPut{To: 0x0102030405060708, At: 131072, Code: wire.RefusedKey}, wire.DecodeTagPut,
			num("to", 8), num("at", 8), num("code", 4), pad(4)),
		sample("refused", "Refused", wire.Refused{Op: 0x0102030405060708, Code: wire.RefusedBounds, Detail: 17}, wire.DecodeRefused,
			num("op", 8), num("code", 4), num("detail", 4)),
		sample("rkey", "RKey", wire.RKey{Rights: wire.Read | wire.Write, Index: 5, Secret: 0x7172737475767778, Size: 1 << 20, Incarnation: 0x1112131415161718}, wire.DecodeRKey,
			num("version", 1), num("rights", 1), pad(2), num("index", 4), field{"secret", 8, bits}, num("size", 8),
			field{"incarnation", 8, bits}, field{"check", 4, bits}),
	}
}
