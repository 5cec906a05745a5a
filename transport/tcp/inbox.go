package tcp

// space is where the next bytes go.
func (in *inbox) space(f *iface) []byte {
	if in.place != nil {
		return in.place[in.placed:]
	}
	switch {
	case in.buf == nil:
		in.buf, f.spare = f.spare, nil
		if in.buf == nil {
			in.buf = f.pool.Get(readLen)
		}
		in.r, in.w = 0, 0
	case in.r == in.w:
		in.restart(f)
	default:
		in.makeRoom(f)
	}
	room := in.buf.Bytes[in.w:]
	if in.small && len(room) > afterLarge {
		room = room[:afterLarge]
	}
	return room
}

// restart: everything was taken.
func (in *inbox) restart(f *iface) {
	switch {
	case !in.buf.Shared() && len(in.buf.Bytes) == readLen:
		in.r, in.w = 0, 0
	case len(in.buf.Bytes)-in.w < minRead || len(in.buf.Bytes) != readLen:
		in.move(f, readLen)
	}
}

// makeRoom has room for the rest of a frame, behind the part that is there.
func (in *inbox) makeRoom(f *iface) {
	size := len(in.buf.Bytes)
	need := minRead
	if in.w-in.r >= headerLen {
		need = max(need, parseHeader(in.buf.Bytes[in.r:]).len())
	}
	switch {
	case in.r+need <= size:
	case need <= size && !in.buf.Shared():
		in.w = copy(in.buf.Bytes, in.buf.Bytes[in.r:in.w])
		in.r = 0
	default:
		in.move(f, need)
	}
}

// move goes on in another buffer: the old one is too small, or somebody keeps frames in it.
func (in *inbox) move(f *iface, size int) {
	b := f.pool.Get(max(size, readLen))
	in.w = copy(b.Bytes, in.buf.Bytes[in.r:in.w])
	in.r = 0
	in.buf.Release()
	in.buf = b
}

// rest gives the buffer back if nothing in it waits.
func (in *inbox) rest(f *iface) {
	if in.buf == nil || in.r != in.w || in.place != nil {
		return
	}
	if f.spare == nil && !in.buf.Shared() && len(in.buf.Bytes) == readLen {
		f.spare = in.buf
	} else {
		in.buf.Release()
	}
	in.buf = nil
}

// unplace goes on in memory of our own.
func (in *inbox) unplace() {
	if in.place == nil || in.own {
		return
	}
	mem := make([]byte, len(in.place))
	copy(mem, in.place[:in.placed])
	in.place, in.own = mem, true
}

// abandon lets go of the memory that a frame was being read to: its rest is skipped.
func (in *inbox) abandon() {
	if in.place == nil {
		return
	}
	in.skip = len(in.place) - in.placed
	in.place, in.asked, in.own = nil, false, false
	in.r = in.w
}

// drop lets go of everything.
func (in *inbox) drop() {
	if in.buf != nil {
		in.buf.Release()
	}
	in.buf, in.place, in.asked, in.own, in.skip = nil, nil, false, false, 0
	in.r, in.w = 0, 0
}
