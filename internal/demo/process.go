package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// exitTime is how long a child may take to end when it is told to.
const exitTime = 2 * time.Second

// process is a child as its parent sees it.
type process struct {
	role  string
	cmd   *exec.Cmd
	in    io.WriteCloser
	said  tail
	ended chan struct{}
}

// news is one line of a child, or that it ended.
type news struct {
	from  *process
	line  line
	ended error // nil: it is a line
}

// start runs a child; what it says goes to out.
func start(role string, command []string, out chan<- news) (*process, error) {
	p := &process{role: role, ended: make(chan struct{})}
	p.cmd = exec.Command(command[0], append(command[1:len(command):len(command)], "--role="+role)...)
	p.cmd.SysProcAttr = attributes()
	p.cmd.Stderr = &p.said
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	r, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start of the %s: %w", role, err)
	}
	go func() {
		bad := lines(r, func(l line) { out <- news{from: p, line: l} })
		if bad != nil {
			p.cmd.Process.Kill() // it talks nonsense
		}
		err := p.cmd.Wait()
		close(p.ended)
		out <- news{from: p, ended: p.verdict(err, bad)}
	}()
	return p, nil
}

// verdict says how it ended; never nil.
func (p *process) verdict(exit, bad error) error {
	text := "it ended"
	if exit != nil {
		text = exit.Error()
	}
	if bad != nil {
		text += "; its output is not what was expected: " + bad.Error()
	}
	if said := p.said.String(); said != "" {
		text += "; it said:\n" + said
	}
	return fmt.Errorf("the %s process ended too early: %s", p.role, text)
}

// task tells the child what to do.
func (p *process) task(s spec) error {
	if err := json.NewEncoder(p.in).Encode(s); err != nil {
		return fmt.Errorf("the %s process does not take its task: %w", p.role, err)
	}
	return nil
}

// stop ends the child: kindly, then not.
func (p *process) stop() {
	p.in.Close()
	t := time.NewTimer(exitTime)
	defer t.Stop()
	select {
	case <-p.ended:
	case <-t.C:
		p.cmd.Process.Kill()
		<-p.ended
	}
}

// tail keeps the beginning of what a child says on standard error.
type tail struct {
	mu sync.Mutex
	b  bytes.Buffer
}

const tailBytes = 4 << 10

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b.Write(p[:min(len(p), tailBytes-t.b.Len())])
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(t.b.String())
}
