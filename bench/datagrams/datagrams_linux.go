package datagrams

import (
	crand "crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft"
	"github.com/openbraid/braid/rdma/soft/udp"
)

const (
	mib        = 1 << 20
	writeBytes = mib
	writeDepth = 4
	// A device hands so many datagrams to the system at a time, has so many under way, and takes so many.
	sendBatch, sendWindow, recvBatch = 64, 256, 16
	datagramBytes                    = 4096 + 16 // of payload, with the headers of most packets
	datagramsFor                     = time.Second
)

// End plays one end of a stream over UDP, and the client prints MB/s. c is for what the two must tell each other.
func End(what string, c net.Conn, client bool) error {
	defer c.Close()
	over := new(atomic.Bool)
	var e interface {
		run(client bool, over *atomic.Bool) (float64, error)
	}
	var err error
	if what == "plain" {
		e, err = newPlain(c)
	} else {
		e, err = newWriter(c, udp.Options{NoSegment: what == "write"})
	}
	if err != nil {
		return err
	}
	if !client {
		go func() {
			_, _ = c.Read(make([]byte, 1)) // ends with the client
			over.Store(true)
		}()
	}
	mbs, err := e.run(client, over)
	if err == nil && client {
		fmt.Println(mbs)
	}
	return err
}

// exchange tells the other end something, and hears the same of it.
func exchange[T any](c net.Conn, mine T) (theirs T, err error) {
	if err = json.NewEncoder(c).Encode(mine); err == nil {
		err = json.NewDecoder(c).Decode(&theirs)
	}
	return theirs, err
}

// writer is a device in software with one connection.
type writer struct {
	dev    *soft.Device
	qp     rdma.QP
	cq     rdma.CQ
	mr     rdma.MR
	theirs target
}

// target is where a peer may write, and its queue pair.
type target struct {
	Addr      netip.AddrPort
	QPN, RKey uint32
	VA        uint64
}

func newWriter(c net.Conn, o udp.Options) (*writer, error) {
	carrier, err := udp.Open(netip.MustParseAddrPort("127.0.0.1:0"), o)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	w := &writer{}
	w.dev, err = soft.Open(soft.Config{Carrier: carrier, Now: func() time.Duration { return time.Since(begin) + 1 }, Rand: func() uint64 {
		var b [8]byte
		_, _ = crand.Read(b[:])
		return binary.NativeEndian.Uint64(b[:])
	}})
	if err != nil {
		return nil, err
	}
	pd, err1 := w.dev.AllocPD()
	cq, err2 := w.dev.CreateCQ(64)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	w.cq = cq
	if w.mr, err = pd.RegMR(make([]byte, writeBytes), rdma.AccessLocalWrite|rdma.AccessRemoteWrite); err != nil {
		return nil, err
	}
	w.qp, err = pd.CreateQP(rdma.QPInit{Type: rdma.TypeRC, SendCQ: cq, RecvCQ: cq, Cap: rdma.QPCap{SendBlocks: 64, SendSGE: 1}})
	if err != nil {
		return nil, err
	}
	if w.theirs, err = exchange(c, target{Addr: w.dev.Addr(), QPN: w.qp.Num(), RKey: w.mr.RKey(), VA: w.mr.Addr()}); err != nil {
		return nil, err
	}
	return w, w.connect()
}

func (w *writer) connect() error {
	to := w.theirs
	return errors.Join(
		w.qp.Modify(rdma.QPAttr{State: rdma.Init, Access: rdma.AccessRemoteWrite}, rdma.MaskAccess),
		w.qp.Modify(rdma.QPAttr{State: rdma.RTR, AV: rdma.AHAttr{DGID: rdma.GIDFrom(to.Addr.Addr()), Port: to.Addr.Port()}, PathMTU: rdma.MTU4096, DestQPN: to.QPN, MaxDestReads: 1, MinRNRTimer: 1},
			rdma.MaskAV|rdma.MaskPathMTU|rdma.MaskDestQPN|rdma.MaskRQPSN|rdma.MaskMaxDestReads|rdma.MaskMinRNRTimer),
		w.qp.Modify(rdma.QPAttr{State: rdma.RTS, Timeout: 16, RetryCount: 7, RNRRetry: 7, MaxReads: 1},
			rdma.MaskSQPSN|rdma.MaskTimeout|rdma.MaskRetryCount|rdma.MaskRNRRetry|rdma.MaskMaxReads))
}

// run writes for a while and returns MB/s, or answers until it is over.
func (w *writer) run(client bool, over *atomic.Bool) (float64, error) {
	if !client {
		for !over.Load() {
			w.dev.Progress()
		}
		return 0, nil
	}
	wr := []rdma.SendWR{{Op: rdma.OpWrite, Flags: rdma.FlagSignaled, RKey: w.theirs.RKey, Addr: w.theirs.VA,
		SGL: []rdma.SGE{{Addr: w.mr.Addr(), Length: writeBytes, LKey: w.mr.LKey()}}}}
	var wcs [8]rdma.WC
	var m rateMeter
	for posted, done := 0, 0; !m.over(done * writeBytes); {
		for ; posted < done+writeDepth; posted++ {
			if n, st := w.qp.PostSend(wr); n == 0 {
				return 0, fmt.Errorf("a WRITE was not taken: %v", st)
			}
		}
		w.dev.Progress()
		n := w.cq.Poll(wcs[:])
		for _, wc := range wcs[:n] {
			if wc.Status != rdma.StatusSuccess {
				return 0, fmt.Errorf("a WRITE ended with: %v", wc.Status)
			}
		}
		done += n
	}
	return m.mbs(), nil
}

// rateMeter measures after a warm-up.
type rateMeter struct {
	begun, at   time.Time
	first, last int
}

func (m *rateMeter) over(bytes int) bool {
	m.at = time.Now()
	switch {
	case m.begun.IsZero() && bytes > 0:
		m.begun = m.at.Add(datagramsFor / 5)
	case m.first == 0 && !m.begun.IsZero() && m.at.After(m.begun):
		m.begun, m.first = m.at, bytes
	}
	m.last = bytes
	return m.first > 0 && m.at.Sub(m.begun) >= datagramsFor
}

func (m *rateMeter) mbs() float64 { return float64(m.last-m.first) / m.at.Sub(m.begun).Seconds() / 1e6 }

// plain sends datagrams of the size and in the batches of a device, as many under way, and does nothing else: what no device can exceed.
type plain struct {
	fd   int
	msgs [sendBatch]struct {
		hdr unix.Msghdr
		n   uint32
		_   [4]byte
	}
	iovs [sendBatch]unix.Iovec
	bufs [sendBatch][]byte
}

func newPlain(c net.Conn) (*plain, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 4*mib)
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 4*mib)
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return nil, err
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		return nil, err
	}
	port, err := exchange(c, name.(*unix.SockaddrInet4).Port)
	if err != nil {
		return nil, err
	}
	p := &plain{fd: fd}
	for i := range p.msgs {
		p.bufs[i] = make([]byte, datagramBytes)
		p.iovs[i].Base = &p.bufs[i][0]
		p.msgs[i].hdr.Iov = &p.iovs[i]
		p.msgs[i].hdr.SetIovlen(1)
	}
	return p, unix.Connect(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
}

// batch sends or takes up to n datagrams of size bytes, and returns how many.
func (p *plain) batch(call uintptr, n, size int) int {
	for i := range n {
		p.iovs[i].SetLen(size)
	}
	k, _, e := unix.RawSyscall6(call, uintptr(p.fd), uintptr(unsafe.Pointer(&p.msgs)), uintptr(n), 0, 0, 0)
	if e != 0 {
		return 0
	}
	return int(k)
}

func (p *plain) run(client bool, over *atomic.Bool) (float64, error) {
	if !client {
		return 0, p.answer(over)
	}
	var m rateMeter
	sent, got, heard := 0, 0, time.Now()
	for !m.over(got * 4096) {
		if n := min(sendBatch, got+sendWindow-sent); n > 0 {
			sent += p.batch(unix.SYS_SENDMMSG, n, datagramBytes)
		}
		if k := p.batch(unix.SYS_RECVMMSG, recvBatch, 8); k > 0 {
			got = max(got, int(binary.NativeEndian.Uint64(p.bufs[k-1])))
			heard = time.Now()
		} else if time.Since(heard) > 20*time.Millisecond {
			sent, heard = got, time.Now() // some were lost
		}
	}
	return m.mbs(), nil
}

// answer says how many came, once for each batch.
func (p *plain) answer(over *atomic.Bool) error {
	for n := uint64(0); !over.Load(); {
		k := p.batch(unix.SYS_RECVMMSG, recvBatch, datagramBytes)
		if k == 0 {
			continue
		}
		n += uint64(k)
		binary.NativeEndian.PutUint64(p.bufs[0], n)
		p.batch(unix.SYS_SENDMMSG, 1, 8)
	}
	return nil
}
