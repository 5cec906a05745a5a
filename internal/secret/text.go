package secret

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"strings"
)

// A secret as text is one word of letters, digits, - and _, so that it needs no quotes in a shell, in a file of variables, or in YAML:
//
//	braid-secret-  and then base64 (of URLs, without padding) of the bytes and their CRC-32C, 4 bytes, little-endian
//
// The beginning tells people, and programs that look for secrets in the wrong places, what it is. The check finds one that was copied
// in part or typed wrong where it is read, not where it does not fit the peer's.
const prefix = "braid-secret-"

const checkSize = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Text is the secret itself, as Parse reads it; "" if it is not set. The caller is to keep it secret.
func (s Secret) Text() string {
	if s.key == nil {
		return ""
	}
	b := s.key()
	b = binary.LittleEndian.AppendUint32(b[:len(b):len(b)], crc32.Checksum(b, castagnoli))
	return prefix + base64.RawURLEncoding.EncodeToString(b)
}

// Parse reads what Text wrote, or hexadecimal digits as `openssl rand -hex 32` prints them. Space around it is not part of it.
//
// Errors: ErrSecret. They say what is wrong and never show any of it.
func Parse(text string) (Secret, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return Secret{}, fmt.Errorf("%w: it is empty; `braid secret` makes one", ErrSecret)
	}
	code, ours := strings.CutPrefix(text, prefix)
	if !ours {
		b, err := hex.DecodeString(text)
		if err != nil {
			return Secret{}, fmt.Errorf("%w: it neither begins with %s, as what `braid secret` prints, nor is it hexadecimal digits; passwords are too easy to guess", ErrSecret, prefix)
		}
		return From(b)
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(code)
	if n := len(b) - checkSize; err == nil && n >= 0 && crc32.Checksum(b[:n], castagnoli) == binary.LittleEndian.Uint32(b[n:]) {
		return From(b[:n])
	}
	return Secret{}, fmt.Errorf("%w: it was copied in part or changed: its check does not fit; copy it again, as one line", ErrSecret)
}
