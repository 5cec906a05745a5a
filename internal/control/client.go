package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"syscall"
	"time"
)

// patience is how long a process may say nothing: to look at everything takes it a second, and of rules it tells twice a second.
var patience = 10 * time.Second

// lastWord is how long it may take to say what rules did that are withdrawn.
const lastWord = time.Second

// Target is who is asked: a node of a process, by the number in the name of its socket.
type Target struct {
	Dir       string // "": that of the user who owns the process
	PID, Node int
}

// Ask asks a node, and calls each for every line of the answer, which it reads into reply first.
//
// If ctx ends while rules are carried out they are withdrawn, and what they did is told before Ask returns why.
//
// Errors: that there is no socket, with what to do about it; what the process answers; that it says nothing for 10 s.
func Ask[T any](ctx context.Context, t Target, r Request, each func(reply T) error) error {
	c, err := t.dial(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	pid := t.PID
	stop := context.AfterFunc(ctx, func() { // rules are withdrawn by that, and what they did until now is told
		if u, ok := c.(*net.UnixConn); ok {
			_ = u.CloseWrite()
		}
		time.AfterFunc(lastWord, func() { c.Close() })
	})
	defer stop()
	_ = c.SetDeadline(time.Now().Add(patience))
	if err := json.NewEncoder(c).Encode(r); err != nil {
		return fmt.Errorf("process %d: %w", pid, err)
	}
	for dec := json.NewDecoder(c); ; {
		_ = c.SetDeadline(time.Now().Add(patience))
		var line struct {
			Error string `json:"error"`
			Over  bool   `json:"over"`
		}
		var raw json.RawMessage
		err := dec.Decode(&raw)
		switch {
		case err != nil && ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, os.ErrDeadlineExceeded):
			return fmt.Errorf("process %d has said nothing for %v: it is stopped, or has no processor: see its state with ps, and try again when it runs", pid, patience)
		case err != nil:
			return fmt.Errorf("process %d went, or hung up because it serves others: try again if it is still there: %w", pid, err)
		}
		if err := json.Unmarshal(raw, &line); err != nil {
			return fmt.Errorf("process %d: %w", pid, err)
		}
		if line.Error != "" {
			return fmt.Errorf("process %d: %s", pid, line.Error)
		}
		var reply T
		if err := json.Unmarshal(raw, &reply); err != nil {
			return fmt.Errorf("process %d: %w", pid, err)
		}
		if err := each(reply); err != nil || r.Do == "inspect" {
			return err
		}
		if line.Over {
			return context.Cause(ctx)
		}
	}
}

func hasProc() bool {
	_, err := os.Stat("/proc/self")
	return err == nil
}

func (t *Target) dial(ctx context.Context) (net.Conn, error) {
	if t.Dir == "" {
		st, err := os.Stat(fmt.Sprintf("/proc/%d", t.PID))
		if err != nil && errors.Is(err, fs.ErrNotExist) && hasProc() {
			return nil, fmt.Errorf("there is no process %d", t.PID)
		}
		uid := os.Getuid()
		if err == nil {
			if sys, ok := st.Sys().(*syscall.Stat_t); ok {
				uid = int(sys.Uid)
			}
		}
		t.Dir = Dir(uid)
	}
	path := Path(t.Dir, t.PID, t.Node)
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", path)
	if err == nil {
		return c, nil
	}
	if there := Nodes(t.Dir, t.PID); len(there) > 0 {
		return nil, fmt.Errorf("process %d has no node %d with a control socket (%s: %w): it has %v", t.PID, t.Node, path, err, there)
	}
	return nil, fmt.Errorf("process %d has no control socket at %s (%w): start it with --control, BRAID_CONTROL=on or Options.Control, as this user", t.PID, path, err)
}

// Nodes are the numbers of the nodes of a process that have a socket in a directory, in ascending order.
func Nodes(dir string, pid int) (all []int) {
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		n := 0
		if _, err := fmt.Sscanf(f.Name(), fmt.Sprintf("%d.%%d.sock", pid), &n); err == nil || f.Name() == fmt.Sprintf("%d.sock", pid) {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all
}
