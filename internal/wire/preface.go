package wire

import "strconv"

// Major and Minor are the protocol version of this code. Extensions are gated by capability bits; a
// new major is for what bits can't express.
const (
	Major = 1
	Minor = 0
)

// Version is a protocol version.
type Version struct {
	Major, Minor uint16
}

// Ours is the version of this code.
func Ours() Version { return Version{Major, Minor} }

func (v Version) String() string {
	return strconv.Itoa(int(v.Major)) + "." + strconv.Itoa(int(v.Minor))
}

// Preface is the first thing that each side says, and all that is read from a stranger. Its size and the place
// of magic and version are frozen for ever, so that any two versions can at least tell each other apart.
type Preface struct {
	Version Version // zero means Ours
	Flags   uint32  // all bits are required ones: a bit that the reader doesn't know is an *UnsupportedError
	Nonce   [16]byte
	Proof   Proof // with FlagSecret, else zero
}

// FlagSecret: the sender has a secret, and Proof shows it.
const FlagSecret = 1 << 0

// Proof is what somebody with a secret makes of a handshake: internal/wireup says of what.
type Proof [32]byte

// PrefaceSize is the size of a Preface.
const PrefaceSize = 64

const (
	// magic follows PNG's: a byte above 127 and both line ends show a connection that is not clean for binary.
	magic = "\x89BRAID\r\n"

	offMajor, offMinor = 8, 10
	offFlags, offNonce = 12, 16
	offProof           = 32
	knownFlags         = FlagSecret
	prefaceMessage     = "Preface"
)

// AppendTo appends the message to b.
func (m Preface) AppendTo(b []byte) []byte {
	if m.Version == (Version{}) {
		m.Version = Ours()
	}
	var a [PrefaceSize]byte
	copy(a[:], magic)
	le.PutUint16(a[offMajor:], m.Version.Major)
	le.PutUint16(a[offMinor:], m.Version.Minor)
	le.PutUint32(a[offFlags:], m.Flags)
	copy(a[offNonce:], m.Nonce[:])
	copy(a[offProof:], m.Proof[:])
	return append(b, a[:]...)
}

// DecodePreface reads a Preface. Of another major it reads only what is frozen: magic and version.
//
// Errors: ErrMagic, *VersionError, *UnsupportedError, *FormatError.
func DecodePreface(b []byte) (Preface, error) {
	head := min(len(b), len(magic))
	if head == 0 || string(b[:head]) != magic[:head] {
		return Preface{}, ErrMagic
	}
	if len(b) < offFlags {
		return Preface{}, badSize(prefaceMessage, len(b), PrefaceSize)
	}
	v := Version{le.Uint16(b[offMajor:]), le.Uint16(b[offMinor:])}
	if v.Major != Major {
		return Preface{}, &VersionError{Ours: Ours(), Theirs: v}
	}
	if err := exact(prefaceMessage, b, PrefaceSize); err != nil {
		return Preface{}, err
	}
	if unknown := le.Uint32(b[offFlags:]) &^ knownFlags; unknown != 0 {
		return Preface{}, &UnsupportedError{Message: prefaceMessage, Flags: unknown}
	}
	m := Preface{Version: v, Flags: le.Uint32(b[offFlags:])}
	if m.Flags&FlagSecret == 0 {
		if err := reserved(prefaceMessage, b, offProof, PrefaceSize); err != nil {
			return Preface{}, err
		}
	}
	copy(m.Nonce[:], b[offNonce:])
	copy(m.Proof[:], b[offProof:])
	return m, nil
}

// Confirm ends a handshake with a secret: the opener's proof that it answers this acceptor, here and now. No data is accepted before it.
type Confirm struct {
	Proof Proof
}

// AppendTo appends the message to b.
func (m Confirm) AppendTo(b []byte) []byte { return append(b, m.Proof[:]...) }

// DecodeConfirm reads a Confirm.
//
// Errors: *FormatError.
func DecodeConfirm(b []byte) (m Confirm, err error) {
	if err := exact("Confirm", b, len(m.Proof)); err != nil {
		return m, err
	}
	copy(m.Proof[:], b)
	return m, nil
}
