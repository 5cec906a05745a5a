package child

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// announcement stands before the address in the line that a server prints for whoever started it.
const announcement = "braid perftest: listening on "

// Announce prints the line that Spawn waits for.
func Announce(out io.Writer, addr string) { fmt.Fprintln(out, announcement+addr) }

// Process is a server in a process of its own.
type Process struct {
	Addr  string
	cmd   *exec.Cmd
	guard io.Closer // its standard input: it ends with that, and so with this process
}

// startWithin is how long a child may take to listen: one that ended before is noticed at once, so that only a hung one takes so long.
const startWithin = time.Minute

// Spawn runs a command that announces a server and ends when its standard input does.
func Spawn(ctx context.Context, command []string, errOut io.Writer) (*Process, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stderr = errOut
	guard, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("can't start the server: %w", err)
	}
	c := &Process{cmd: cmd, guard: guard}
	addr := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if a, ok := strings.CutPrefix(lines.Text(), announcement); ok {
				addr <- a
				break
			}
		}
		close(addr)
		_, _ = io.Copy(io.Discard, out)
	}()
	select {
	case a, ok := <-addr:
		if c.Addr = a; ok {
			return c, nil
		}
		err = errors.New("it ended before it listened")
	case <-time.After(startWithin):
		err = fmt.Errorf("it does not listen after %v", startWithin)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	c.Kill()
	return nil, fmt.Errorf("the server that was started: %w", err)
}

// Wait lets the child end by itself, as a server does that serves once, but not for long.
func (c *Process) Wait() error {
	timer := time.AfterFunc(5*time.Second, func() { _ = c.cmd.Process.Kill() })
	defer timer.Stop()
	err := c.cmd.Wait()
	c.guard.Close()
	if err != nil {
		return fmt.Errorf("the server that was started: %w", err)
	}
	return nil
}

// PID is the child's process.
func (c *Process) PID() int { return c.cmd.Process.Pid }

// Kill ends the child at once.
func (c *Process) Kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
	c.guard.Close()
}

// Guard calls end when in does: a child that is spawned lives no longer than who started it.
func Guard(in io.Reader, end func()) {
	go func() {
		_, _ = io.Copy(io.Discard, in)
		end()
	}()
}
