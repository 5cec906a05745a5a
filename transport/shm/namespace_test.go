//go:build linux

package shm

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/openbraid/braid/transport"
)

// A peer in namespaces of its own gets shared memory as any other: nothing is looked up in /proc or in a directory.

func TestE1_UserNamespace(t *testing.T) { namespaces(t, syscall.CLONE_NEWUSER) }

func TestE4_Namespaces(t *testing.T) {
	namespaces(t, syscall.CLONE_NEWUSER|syscall.CLONE_NEWPID|syscall.CLONE_NEWNS)
}

func TestE5_PIDNamespace(t *testing.T) {
	namespaces(t, syscall.CLONE_NEWUSER|syscall.CLONE_NEWPID)
}

// namespaces has a child that is in other ones connect and send.
func namespaces(t *testing.T, flags uintptr) {
	f := opened(t)
	defer f.Close()
	p := &plain{}
	l, err := f.Listen("shm:0", p)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "BRAID_SHM_CHILD="+l.Addr())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  flags,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("this system does not let a user make namespaces: %v", err)
	}
	for end := time.Now().Add(20 * time.Second); !turns(100, func() bool { return p.got > 200 }, f) && time.Now().Before(end); {
	}
	if p.got <= 200 || p.err != nil {
		t.Errorf("%d frames came, %v", p.got, p.err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if p.ep != nil {
		p.ep.Close()
	}
}

// TestE8_WhatIsMissing: a connection that does not fit says how much it needs, how much there may be, and where to say so.
func TestE8_WhatIsMissing(t *testing.T) {
	server, client := opened(t), openedOn(t, New(Options{Slots: 8, Data: 128 << 10, Limit: 100 << 10}))
	defer server.Close()
	defer client.Close()
	p, q := &plain{}, &plain{}
	l, err := server.Listen("shm:0", p)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := client.Dial("", l.Addr(), transport.Options{}, q); err != nil {
		t.Fatal(err)
	}
	if !turns(1000, func() bool { return q.err != nil }, client) || !errors.Is(q.err, ErrLimit) {
		t.Fatalf("it ended with %v, want %v", q.err, ErrLimit)
	}
	for _, want := range []string{"263680 bytes", "of 102400", "shm-limit", l.Addr()} {
		if !strings.Contains(q.err.Error(), want) {
			t.Errorf("%q does not say %q", q.err, want)
		}
	}
}
