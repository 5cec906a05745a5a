package dialogue

// Extent is a part of a file.
type Extent struct {
	File   int // index in the list
	Offset uint64
	Length int
	// Whole: it is all of the file. End: it is the end of the file.
	Whole, End bool
}

// Cutter cuts a list into pieces: both sides the same way, each for itself.
//
//	big file   |piece|piece|..|   several small files share a piece
//	                       |end|
//
// A file of PieceBytes or more begins a piece, and its end has one for itself; smaller ones are packed while they fit. Files without bytes are in none.
// A file that is open is the last one, and cut the same way until it is told where it ends.
type Cutter struct {
	list []Entry
	open bool
	file int    // the next
	at   uint64 // in it
	over bool
}

// NewCutter begins at the first file. open: the last entry is a file whose size is not known.
func NewCutter(list []Entry, open bool) *Cutter { return &Cutter{list: list, open: open} }

// Next appends the extents of the next piece to ext. None is left: ok is false. An extent of an open file may turn out to be shorter, which End says.
func (c *Cutter) Next(ext []Extent) (_ []Extent, ok bool) {
	room := PieceBytes
	for n := 0; c.file < len(c.list) && n < MaxExtents && !c.over; {
		e := &c.list[c.file]
		isOpen := c.open && c.file == len(c.list)-1
		left := e.Size - c.at
		switch {
		case !isOpen && left == 0: // a directory, or a file that is empty or done
			c.file, c.at = c.file+1, 0
			continue
		case isOpen || e.Size >= PieceBytes:
			if n > 0 {
				return ext, true
			}
			if isOpen {
				left = PieceBytes
			}
			x := Extent{File: c.file, Offset: c.at, Length: int(min(left, PieceBytes))}
			c.at += uint64(x.Length)
			x.End = !isOpen && c.at == e.Size
			return append(ext, x), true
		case left > uint64(room):
			return ext, true
		}
		ext = append(ext, Extent{File: c.file, Length: int(left), Whole: true, End: true})
		room -= int(left)
		c.file, c.at, n = c.file+1, 0, n+1
		ok = true
	}
	return ext, ok
}

// End says that the open file has ended.
func (c *Cutter) End() { c.over = true }
