//go:build linux

package shm

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestE4_Namespaces: a peer in user, PID and mount namespaces of its own gets shared memory as any other. (E1, E5: nothing is looked up in /proc or in a
// directory.)
func TestE4_Namespaces(t *testing.T) {
	f := opened(t)
	defer f.Close()
	for name, flags := range map[string]uintptr{
		"user": syscall.CLONE_NEWUSER, "user and PID": syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID, "user and mount": syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
	} {
		p := &plain{}
		l, err := f.Listen("shm:0", p)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "BRAID_SHM_CHILD="+l.Addr())
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  flags,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
		}
		if err := cmd.Start(); err != nil {
			l.Close()
			t.Skipf("%s: this system does not let a user make namespaces: %v", name, err)
		}
		for end := time.Now().Add(20 * time.Second); !turns(100, func() bool { return p.got > 200 }, f) && time.Now().Before(end); {
		}
		if p.got <= 200 || p.err != nil {
			t.Errorf("%s: %d frames came, %v", name, p.got, p.err)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if p.ep != nil {
			p.ep.Close()
		}
		l.Close()
	}
}
