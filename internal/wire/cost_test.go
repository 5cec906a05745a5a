package wire_test

import (
	"testing"

	"github.com/openbraid/braid/internal/wire"
)

// kept makes results outlive what the compiler can see.
var kept struct {
	b       []byte
	err     error
	am      wire.AM
	amFirst wire.AMFirst
	amFrag  wire.AMFrag
	put     wire.Put
}

// TestAllocs: encoders never allocate, decoders only for strings.
func TestAllocs(t *testing.T) {
	text := map[string]float64{"hello-first": 1, "helloack-first": 4, "reject": 1, "rails": 2} // strings, and the address list
	for _, m := range samples() {
		b := make([]byte, 0, 2048)
		if n := testing.AllocsPerRun(100, func() { kept.b = m.sample.AppendTo(b) }); n != 0 {
			t.Errorf("%s: encoding allocates %v times", m.file, n)
		}
	}
	for _, m := range samples() {
		b := m.sample.AppendTo(nil)
		// One more for the interface in which this test carries the result; none if that is empty.
		if n := testing.AllocsPerRun(100, func() { _, kept.err = m.decode(b) }); n > text[m.file]+1 {
			t.Errorf("%s: decoding allocates %v times", m.file, n-1)
		}
	}
}

// TestHotAllocs: the heads of the data path, without anything in between.
func TestHotAllocs(t *testing.T) {
	buf := make([]byte, 0, 256)
	for name, fn := range hot(buf) {
		if n := testing.AllocsPerRun(100, fn); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
		if kept.err != nil {
			t.Errorf("%s: %v", name, kept.err)
		}
	}
}

// hot is each encoder and decoder of the data path, once.
func hot(buf []byte) map[string]func() {
	header := []byte("header")
	am := wire.AM{ID: 7, Header: header}.AppendTo(nil)
	amFirst := wire.AMFirst{ID: 7, Msg: 1, Total: 1 << 20, Header: header}.AppendTo(nil)
	amFrag := wire.AMFrag{Msg: 1, Offset: 1 << 16}.AppendTo(nil)
	put := wire.Put{Index: 1, Secret: 2, Offset: 3, Op: 4}.AppendTo(nil)
	return map[string]func(){
		"AM append":      func() { kept.b = wire.AM{ID: 7, Header: header}.AppendTo(buf) },
		"AM decode":      func() { kept.am, kept.err = wire.DecodeAM(am) },
		"AMFirst append": func() { kept.b = wire.AMFirst{ID: 7, Msg: 1, Total: 9, Header: header}.AppendTo(buf) },
		"AMFirst decode": func() { kept.amFirst, kept.err = wire.DecodeAMFirst(amFirst) },
		"AMFrag append":  func() { kept.b = wire.AMFrag{Msg: 1, Offset: 2}.AppendTo(buf) },
		"AMFrag decode":  func() { kept.amFrag, kept.err = wire.DecodeAMFrag(amFrag) },
		"Put append":     func() { kept.b = wire.Put{Index: 1, Secret: 2, Offset: 3, Op: 4}.AppendTo(buf) },
		"Put decode":     func() { kept.put, kept.err = wire.DecodePut(put) },
	}
}

func benchmark(b *testing.B, name string) {
	b.ReportAllocs()
	buf := make([]byte, 0, 256)
	encode, decode := hot(buf)[name+" append"], hot(buf)[name+" decode"]
	b.Run("append", func(b *testing.B) {
		for b.Loop() {
			encode()
		}
	})
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			decode()
		}
	})
}

func BenchmarkAMHead(b *testing.B)      { benchmark(b, "AM") }
func BenchmarkAMFirstHead(b *testing.B) { benchmark(b, "AMFirst") }
func BenchmarkAMFragHead(b *testing.B)  { benchmark(b, "AMFrag") }
func BenchmarkPutHead(b *testing.B)     { benchmark(b, "Put") }
