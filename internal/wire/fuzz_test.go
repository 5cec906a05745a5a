package wire_test

import "testing"

// fuzz feeds the decoder of the named message with its samples and what the fuzzer makes of them.
func fuzz(f *testing.F, name string) {
	var m message
	for _, s := range samples() {
		if s.name == name {
			m = s
			b := s.sample.AppendTo(nil)
			f.Add(b)
			f.Add(b[:len(b)/2])
			f.Add(append(b, 0x0f, 0x00, 0x01, 0x00, 0xcc)) // an unknown optional field, to a Hello
			f.Add(append(b, 0x0f, 0x80, 0x01, 0x00, 0xcc)) // an unknown required one
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		checkDecoder(t, m, b)
		if m.fixup != nil {
			m.fixup(b)
			checkDecoder(t, m, b)
		}
	})
}

func FuzzPreface(f *testing.F)   { fuzz(f, "Preface") }
func FuzzHello(f *testing.F)     { fuzz(f, "Hello") }
func FuzzHelloAck(f *testing.F)  { fuzz(f, "HelloAck") }
func FuzzBusy(f *testing.F)      { fuzz(f, "Busy") }
func FuzzEPClosed(f *testing.F)  { fuzz(f, "EPClosed") }
func FuzzReject(f *testing.F)    { fuzz(f, "Reject") }
func FuzzConfirm(f *testing.F)   { fuzz(f, "Confirm") }
func FuzzLost(f *testing.F)      { fuzz(f, "Lost") }
func FuzzGone(f *testing.F)      { fuzz(f, "Gone") }
func FuzzPing(f *testing.F)      { fuzz(f, "Ping") }
func FuzzPong(f *testing.F)      { fuzz(f, "Pong") }
func FuzzClose(f *testing.F)     { fuzz(f, "Close") }
func FuzzClosed(f *testing.F)    { fuzz(f, "Closed") }
func FuzzRails(f *testing.F)     { fuzz(f, "Rails") }
func FuzzAM(f *testing.F)        { fuzz(f, "AM") }
func FuzzAMFirst(f *testing.F)   { fuzz(f, "AMFirst") }
func FuzzAMFrag(f *testing.F)    { fuzz(f, "AMFrag") }
func FuzzAtomicOp(f *testing.F)  { fuzz(f, "AtomicOp") }
func FuzzPutSignal(f *testing.F) { fuzz(f, "PutSignal") }
func FuzzPut(f *testing.F)       { fuzz(f, "Put") }
func FuzzRefused(f *testing.F)   { fuzz(f, "Refused") }
func FuzzGet(f *testing.F)       { fuzz(f, "Get") }
func FuzzCredit(f *testing.F)    { fuzz(f, "Credit") }
func FuzzTagged(f *testing.F)    { fuzz(f, "Tagged") }
func FuzzTagSync(f *testing.F)   { fuzz(f, "TagSync") }
func FuzzTagOffer(f *testing.F)  { fuzz(f, "TagOffer") }
func FuzzTagNote(f *testing.F)   { fuzz(f, "TagNote") }
func FuzzTagClear(f *testing.F)  { fuzz(f, "TagClear") }
func FuzzTagPut(f *testing.F)    { fuzz(f, "TagPut") }
func FuzzGetData(f *testing.F)   { fuzz(f, "GetData") }
func FuzzAMPart(f *testing.F)    { fuzz(f, "AMPart") }
func FuzzAMLast(f *testing.F)    { fuzz(f, "AMLast") }
func FuzzRKey(f *testing.F)      { fuzz(f, "RKey") }
