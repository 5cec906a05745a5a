package lint

import (
	"os"
	"regexp"
	"testing"
)

// raw are the system calls that are made without telling the scheduler, by why they don't block: one that did would hold up all other goroutines of its processor,
// and whoever wants to stop the world.
var raw = map[string]string{
	"RECVFROM":    "the socket is non-blocking",
	"SENDTO":      "the socket is non-blocking",
	"SENDMSG":     "the socket is non-blocking",
	"CONNECT":     "takes back what the socket was connected to, and asks nobody",
	"RECVMMSG":    "the socket is non-blocking",
	"SENDMMSG":    "the socket is non-blocking",
	"EPOLL_PWAIT": "waits for no time",
	"SCHED_YIELD": "comes back as soon as nobody else wants the processor, or has had his slice",
}

// TestRawSystemCalls: the library makes no other system call so.
func TestRawSystemCalls(t *testing.T) {
	m, err := Load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	call := regexp.MustCompile(`\bRawSyscall6?\(([\w.]*?(?:SYS_(\w+))?),`)
	seen := map[string]bool{}
	for _, p := range m.Packages {
		if r, _ := roomOf(p.Dir); r.kind == program || r.kind == testOnly {
			continue
		}
		for _, f := range p.Files {
			if f.Kind != Library {
				continue
			}
			text, err := os.ReadFile("../../" + f.Name)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range call.FindAllStringSubmatch(string(text), -1) {
				if raw[c[2]] == "" {
					t.Errorf("%s: RawSyscall of %s: if it may block, use Syscall; if it can't, say why in this test", f.Name, c[1])
				}
				seen[c[2]] = true
			}
		}
	}
	for name := range raw {
		if !seen[name] {
			t.Errorf("nobody makes the system call %s so any more", name)
		}
	}
}
