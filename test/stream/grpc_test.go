package stream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// echoes is the service, as protoc would have it: one call with one answer, and one with a stream each way.
var echoes = grpc.ServiceDesc{
	ServiceName: "braid.Echo",
	HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{
		MethodName: "Once",
		Handler: func(_ any, ctx context.Context, dec func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			m := new(wrapperspb.BytesValue)
			return m, dec(m)
		},
	}},
	Streams: []grpc.StreamDesc{{
		StreamName: "Each", ServerStreams: true, ClientStreams: true,
		Handler: func(_ any, s grpc.ServerStream) error {
			for {
				m := new(wrapperspb.BytesValue)
				if err := s.RecvMsg(m); errors.Is(err, io.EOF) {
					return nil
				} else if err != nil {
					return err
				}
				if err := s.SendMsg(m); err != nil {
					return err
				}
			}
		},
	}},
}

// TestGRPCUnderCuts: unary calls, and one stream that lives all the time, go on while lanes are cut in turn. Every call is answered once, in order.
func TestGRPCUnderCuts(t *testing.T) {
	s := newSides(t)
	srv := grpc.NewServer()
	srv.RegisterService(&echoes, nil)
	done := make(chan error, 1)
	go func() { done <- srv.Serve(s.ln) }()
	cc, err := grpc.NewClient("passthrough:///"+s.addr(), grpc.WithContextDialer(s.cm.Dial), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cc.Close()
		srv.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})

	stop := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() { unary(t, cc, stop) })
	all.Go(func() { streaming(t, cc, stop) })
	s.cuts(8)
	close(stop)
	all.Wait()
}

// message is the nth.
func message(n int) *wrapperspb.BytesValue {
	return wrapperspb.Bytes(bytes.Repeat([]byte{byte(n)}, 1+n*7919%50_000))
}

func unary(t *testing.T, cc *grpc.ClientConn, stop chan struct{}) {
	n := 0
	for ; ; n++ {
		select {
		case <-stop:
			t.Logf("%d calls", n)
			return
		default:
		}
		want, got := message(n), new(wrapperspb.BytesValue)
		if err := cc.Invoke(within(t), "/braid.Echo/Once", want, got); err != nil || !bytes.Equal(got.Value, want.Value) {
			t.Errorf("call %d: %d bytes, %v", n, len(got.Value), err)
			return
		}
	}
}

func streaming(t *testing.T, cc *grpc.ClientConn, stop chan struct{}) {
	st, err := cc.NewStream(within(t), &echoes.Streams[0], "/braid.Echo/Each")
	if err != nil {
		t.Error(err)
		return
	}
	sent := make(chan int, 1)
	go func() {
		defer st.CloseSend()
		for n := 0; ; n++ {
			select {
			case <-stop:
				sent <- n
				return
			default:
			}
			if err := st.SendMsg(message(n)); err != nil {
				t.Errorf("message %d: %v", n, err)
				sent <- n
				return
			}
		}
	}()
	n := 0
	for ; ; n++ {
		got := new(wrapperspb.BytesValue)
		if err := st.RecvMsg(got); errors.Is(err, io.EOF) {
			break
		} else if err != nil || !bytes.Equal(got.Value, message(n).Value) {
			t.Errorf("answer %d: %d bytes, %v", n, len(got.Value), err)
			break
		}
	}
	if want := <-sent; n != want {
		t.Errorf("%d messages were sent, %d came back", want, n)
	}
	t.Logf("%d messages on one stream", n)
}
