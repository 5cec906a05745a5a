package multiproc

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
)

// scan says to a listener what port scanners, browsers and broken programs say, Count times, and hangs up or doesn't.
func scan(s *self, j job) {
	luck := rand.New(rand.NewPCG(7, 7))
	greetings := []string{
		"", "\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "SSH-2.0-OpenSSH_9.6\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "OPTIONS sip:nm SIP/2.0\r\n",
		"\x00\x00\x00\xa4\xffSMBr", "\x03\x00\x00\x13\x0e\xe0", "PING\r\n", "\x89BRAID\r\n", strings.Repeat("\xff", 5000),
	}
	var open []net.Conn
	for i := range j.Count {
		c, err := net.DialTimeout("tcp", j.Addr, patience)
		if err != nil {
			continue // it may have had enough
		}
		text := []byte(greetings[i%len(greetings)])
		if i%3 == 0 {
			text = make([]byte, luck.IntN(3000))
			for k := range text {
				text[k] = byte(luck.Uint32())
			}
		}
		c.Write(text)
		if i%2 == 0 {
			c.Close()
		} else {
			open = append(open, c)
		}
	}
	s.say("scanned")
	<-s.heard
	for _, c := range open {
		c.Close()
	}
}

// TestC12_Scanner: a listener is scanned while it serves: who is there goes on, and who comes gets in.
func TestC12_Scanner(t *testing.T) {
	begin(t)
	w := newWorld(t, 2)
	p := w.pair(sides{})
	p.dialed(lane1, lane2)
	var scanners []*child
	for i := range 2 {
		scanners = append(scanners, start(t, job{Role: "scan", Netns: w.left, Addr: fmt.Sprintf("10.77.%d.2", i+1) + p.port, Count: 100}))
	}
	for _, c := range scanners {
		c.expect("scanned")
	}
	late := start(t, job{Role: "knock", Netns: w.left, Addr: "10.77.1.2" + p.port})
	if got := strings.Fields(late.expect("lanes")); len(got) == 0 {
		t.Error("no lane")
	}
	late.exits()
	p.becomes(lane1, lane2)
	for _, c := range scanners {
		c.tell("end")
		c.exits()
	}
	p.ends()
}
