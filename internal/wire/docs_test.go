package wire_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/openbraid/braid/internal/wire"
)

// TestDocs holds docs/wire.md against the fields of the goldens: each of them has its row, with the right place and size.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/wire.md")
	if err != nil {
		t.Fatal(err)
	}
	for id := range 256 {
		name := wire.Name(uint8(id))
		if row := fmt.Sprintf("\n| %d | [%s](#", id, name); !strings.Contains(name, "(") && !strings.Contains(string(page), row) {
			t.Errorf("no row %q in the table of frames", row)
		}
	}
	for _, m := range samples() {
		section := docsSection(string(page), m.name)
		if section == "" {
			t.Errorf("no section for %s", m.name)
		}
		for _, row := range docsRows(m) {
			if !strings.Contains(section, row) {
				t.Errorf("section of %s has no %q", m.name, row)
			}
		}
	}
}

// docsSection is what stands below the heading that names a message.
func docsSection(page, name string) string {
	for _, s := range strings.Split(page, "\n##")[1:] {
		title, body, _ := strings.Cut(s, "\n")
		for _, word := range strings.Fields(title) {
			if word == name {
				return body
			}
		}
	}
	return ""
}

// docsRows are the beginnings of the rows that a section must have.
func docsRows(m message) (rows []string) {
	off := 0
	for _, f := range m.fields {
		size := fmt.Sprint(f.size)
		if f.kind == text {
			size = "length"
		}
		row := fmt.Sprintf("\n| %d | %s | `%s` |", off, size, f.name)
		if m.tlv && off >= 8 { // fields have no fixed place
			row = docsField(m, f, off)
		}
		if row != "" {
			rows = append(rows, row)
		}
		off += f.size
	}
	return rows
}

// docsField is the row of the field whose type stands at off, or how its content is named in it.
func docsField(m message, f field, off int) string {
	name, isType := strings.CutSuffix(f.name, " type")
	switch {
	case isType:
		b := m.sample.AppendTo(nil)[off:]
		typ, length := uint16(b[0])|uint16(b[1])<<8, fmt.Sprint(uint16(b[2])|uint16(b[3])<<8)
		switch name {
		case "name":
			length = fmt.Sprintf("1 to %d", wire.MaxName)
		case "addresses":
			length = fmt.Sprintf("2 to %d", wire.MaxAddrs*(1+wire.MaxAddr))
		}
		return fmt.Sprintf("\n| %d | %#04x | %s | `%s` |", typ&0x7fff, typ, length, name)
	case f.kind == zero, f.name == "opener", f.name == "n", strings.HasSuffix(f.name, " length") && f.name != "address length":
		return "" // the instance has its own table
	}
	return "`" + f.name + "`"
}
