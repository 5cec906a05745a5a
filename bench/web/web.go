package web

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/stream"
)

// Run is who talks, over what, and what is measured.
type Run struct {
	Proto string // "http" or "grpc"
	Over  string // "braid" or "tcp"
	What  string // "lat": microseconds of a round trip; "bw": MB/s
}

func (r Run) String() string { return r.Proto + " " + r.Over + " " + r.What }

const (
	lat    = "lat"
	trips  = 4000
	warm   = 400
	small  = 8
	bulk   = 16 << 20
	piece  = 1 << 20
	bulks  = 48
	within = 2 * time.Minute
)

// End plays one end of a run. The server says where it is to be dialed by tell and serves until it is killed; the client dials addr and says
// what it has measured.
func End(run, addr string, tell func(any)) error {
	var r Run
	if _, err := fmt.Sscan(run, &r.Proto, &r.Over, &r.What); err != nil {
		return fmt.Errorf("run %q: %w", run, err)
	}
	n, err := network(r.Over)
	if err != nil {
		return err
	}
	if addr == "" {
		ln, err := n.listen()
		if err != nil {
			return err
		}
		tell(ln.Addr())
		return r.serve(ln)
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	call, done, err := r.client(addr, n)
	if err != nil {
		return err
	}
	defer done()
	v, err := r.measure(ctx, call)
	if err == nil {
		tell(v)
	}
	return err
}

// over is what is different.
type over struct {
	listen func() (net.Listener, error)
	dial   func(context.Context, string) (net.Conn, error)
}

func network(name string) (over, error) {
	if name != "braid" {
		return over{
			func() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") },
			func(ctx context.Context, addr string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "tcp", addr)
			},
		}, nil
	}
	o, err := braid.FromEnv()
	if err != nil {
		return over{}, err
	}
	o.Lanes = 1
	n, err := braid.Open(o)
	if err != nil {
		return over{}, err
	}
	w, err := n.NewWorker()
	if err != nil {
		return over{}, err
	}
	m, err := stream.New(w, stream.Options{})
	if err != nil {
		return over{}, err
	}
	return over{func() (net.Listener, error) { return m.Listen("127.0.0.1:0") }, m.Dial}, nil
}

// measure makes calls, one after the other.
func (r Run) measure(ctx context.Context, call func(context.Context, int) error) (float64, error) {
	if r.What == lat {
		times := make([]time.Duration, 0, trips)
		for i := range warm + trips {
			begun := time.Now()
			if err := call(ctx, small); err != nil {
				return 0, err
			}
			if i >= warm {
				times = append(times, time.Since(begun))
			}
		}
		slices.Sort(times)
		return float64(times[len(times)/2]) / 1e3, nil
	}
	var begun time.Time
	for i := range bulks + bulks/8 {
		if i == bulks/8 {
			begun = time.Now()
		}
		if err := call(ctx, bulk); err != nil {
			return 0, err
		}
	}
	return float64(bulks) * bulk / 1e6 / time.Since(begun).Seconds(), nil
}

var zeros = make([]byte, piece)

func (r Run) serve(ln net.Listener) error {
	if r.Proto == "http" {
		return http.Serve(ln, http.HandlerFunc(answer))
	}
	s := grpc.NewServer()
	s.RegisterService(&service, nil)
	return s.Serve(ln)
}

// answer sends as many bytes as the path says.
func answer(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.URL.Path[1:])
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(n))
	for ; n > 0; n -= piece {
		w.Write(zeros[:min(n, piece)])
	}
}

// service has one call: as many bytes as asked for, in messages of a piece.
var service = grpc.ServiceDesc{ServiceName: "bench.Bytes", HandlerType: (*any)(nil), Streams: []grpc.StreamDesc{{
	StreamName: "Get", ServerStreams: true,
	Handler: func(_ any, s grpc.ServerStream) error {
		n := new(wrapperspb.Int64Value)
		if err := s.RecvMsg(n); err != nil {
			return err
		}
		for left := int(n.Value); left > 0; left -= piece {
			if err := s.SendMsg(wrapperspb.Bytes(zeros[:min(left, piece)])); err != nil {
				return err
			}
		}
		return nil
	},
}}}

// client is what asks for so many bytes.
func (r Run) client(addr string, n over) (call func(context.Context, int) error, done func(), err error) {
	if r.Proto == "http" {
		t := &http.Transport{DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) { return n.dial(ctx, addr) }}
		return func(ctx context.Context, size int) error { return get(ctx, &http.Client{Transport: t}, addr, size) }, t.CloseIdleConnections, nil
	}
	cc, err := grpc.NewClient("passthrough:///"+addr, grpc.WithContextDialer(n.dial), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(2*piece)))
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, size int) error { return receive(ctx, cc, size) }, func() { cc.Close() }, nil
}

func get(ctx context.Context, c *http.Client, addr string, size int) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s/%d", addr, size), nil)
	if err != nil {
		return err
	}
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	return all(int(n), size, err)
}

func receive(ctx context.Context, cc *grpc.ClientConn, size int) error {
	s, err := cc.NewStream(ctx, &service.Streams[0], "/bench.Bytes/Get")
	if err != nil {
		return err
	}
	if err := s.SendMsg(wrapperspb.Int64(int64(size))); err != nil {
		return err
	}
	if err := s.CloseSend(); err != nil {
		return err
	}
	for n := 0; ; {
		m := new(wrapperspb.BytesValue)
		if err := s.RecvMsg(m); err == io.EOF {
			return all(n, size, nil)
		} else if err != nil {
			return err
		}
		n += len(m.Value)
	}
}

func all(n, want int, err error) error {
	if err == nil && n != want {
		err = fmt.Errorf("%d bytes came, want %d", n, want)
	}
	return err
}
