package wire

import "strconv"

// ControlMax is the most that a control frame carries. It is the limit of a transport before a
// handshake has ended, too (transport.HelloMax).
const ControlMax = 1024

// Frame IDs of control frames. They are neither counted nor kept: who needs an answer asks again.
const (
	IDPreface  uint8 = 1
	IDHello    uint8 = 2
	IDHelloAck uint8 = 3
	IDBusy     uint8 = 4
	IDEPClosed uint8 = 5
	IDReject   uint8 = 6
	IDLost     uint8 = 7
	IDGone     uint8 = 8
	IDPing     uint8 = 9
	IDPong     uint8 = 10
	IDClose    uint8 = 11
	IDClosed   uint8 = 12
	IDRefused  uint8 = 13
	IDConfirm  uint8 = 14
	IDRails    uint8 = 16
)

// Frame IDs of data frames: counted, acknowledged, replayed.
const (
	IDAM      uint8 = 32
	IDAMFirst uint8 = 33
	IDAMFrag  uint8 = 34
	IDPut     uint8 = 35
	IDGet     uint8 = 36
	IDGetData uint8 = 37
	IDAMPart  uint8 = 38
	IDAMLast  uint8 = 39
	IDCredit  uint8 = 40

	IDPutSignal uint8 = 41
	IDAtomicOp  uint8 = 42

	IDTagNote  uint8 = 43
	IDTagClear uint8 = 44
	IDTagPut   uint8 = 45
)

// Name is a frame ID for logs.
func Name(id uint8) string {
	if int(id) < len(names) && names[id] != "" {
		return names[id]
	}
	return "frame(" + strconv.Itoa(int(id)) + ")"
}

var names = [...]string{
	IDPreface:  "Preface",
	IDHello:    "Hello",
	IDHelloAck: "HelloAck",
	IDBusy:     "Busy",
	IDEPClosed: "EPClosed",
	IDReject:   "Reject",
	IDLost:     "Lost",
	IDGone:     "Gone",
	IDPing:     "Ping",
	IDPong:     "Pong",
	IDClose:    "Close",
	IDClosed:   "Closed",
	IDConfirm:  "Confirm",
	IDAM:       "AM",
	IDAMFirst:  "AMFirst",
	IDAMFrag:   "AMFrag",
	IDPut:      "Put",
	IDRefused:  "Refused",
	IDRails:    "Rails",
	IDGet:      "Get",
	IDGetData:  "GetData",
	IDAMPart:   "AMPart",
	IDAMLast:   "AMLast",
	IDCredit:   "Credit",

	IDPutSignal: "PutSignal",
	IDAtomicOp:  "AtomicOp",

	IDTagNote:  "TagNote",
	IDTagClear: "TagClear",
	IDTagPut:   "TagPut",
}
