package echo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/openbraid/braid/internal/perf/cpu"
)

const (
	// role makes a program one of two ends: "cpu" for the server, "cpu address" for the client.
	role = "BRAID_BENCH_ECHO"
	// Bare, set to anything, has the two poll the sockets under the connections, with nothing but the system calls.
	Bare = "BRAID_BENCH_BARE"
)

const (
	trips = 4000
	warm  = 400
	// Bytes is what goes there and back.
	Bytes = 8
)

// End is what a process is to be.
type End struct {
	Addr   string // of the server, for the client
	Client bool
}

// Role says whether this process was started by Ends, and as what; it is bound to its processor then.
func Role() (e End, is bool, err error) {
	v := os.Getenv(role)
	if v == "" {
		return e, false, nil
	}
	on, addr, client := strings.Cut(v, " ")
	return End{Addr: addr, Client: client}, true, cpu.HoldAll(on)
}

// Ends runs this program as the two ends of a connection, and reads what the client prints: one number. The context bounds that.
func Ends(ctx context.Context, cpuA, cpuB string, env ...string) (float64, error) {
	env = append(os.Environ(), env...)
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	server := exec.CommandContext(ctx, self)
	server.Env = append(slices.Clone(env), role+"="+cpuB)
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := server.Start(); err != nil {
		return 0, err
	}
	defer func() { _ = server.Process.Kill(); _ = server.Wait() }()
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("the echo server: %w", err)
	}
	client := exec.CommandContext(ctx, self)
	client.Env = append(slices.Clone(env), role+"="+cpuA+" "+strings.TrimSpace(addr))
	client.Stderr = os.Stderr
	text, err := client.Output()
	if err != nil {
		return 0, err
	}
	var v float64
	_, err = fmt.Sscan(string(text), &v)
	return v, err
}

// Connect makes the connection: the server prints its address first.
func (e End) Connect() (net.Conn, error) {
	if e.Client {
		return net.Dial("tcp", e.Addr)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer ln.Close()
	fmt.Println(ln.Addr())
	return ln.Accept()
}

// PingPong is what both ends do: the client prints half of a round trip, in microseconds.
func (e End) PingPong(dialed net.Conn) error {
	var c io.ReadWriter = dialed
	if os.Getenv(Bare) != "" {
		var err error
		if c, err = Polled(dialed.(*net.TCPConn)); err != nil {
			return err
		}
	}
	buf := make([]byte, Bytes)
	if !e.Client {
		return serve(c, buf)
	}
	times := make([]time.Duration, 0, trips)
	for i := range warm + trips {
		begun := time.Now()
		if _, err := c.Write(buf); err != nil {
			return err
		}
		if _, err := io.ReadFull(c, buf); err != nil {
			return err
		}
		if i >= warm {
			times = append(times, time.Since(begun))
		}
	}
	slices.Sort(times)
	fmt.Println(float64(times[len(times)/2]) / 2 / 1e3)
	return nil
}

func serve(c io.ReadWriter, buf []byte) error {
	for {
		if _, err := io.ReadFull(c, buf); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if _, err := c.Write(buf); err != nil {
			return err
		}
	}
}
