package failover

import (
	"fmt"
	"strings"
)

// State of one instance on one side.
type State uint8

const (
	Absent  State = iota // no record: never heard of, or ended
	Opening              // HELLO sent, not answered; or answered here, and not yet confirmed
	Up
	Asking  // lost; the peer's position isn't known
	Telling // lost; the peer's position is known and purged with; the peer isn't known to have mine
	states
)

var stateNames = [states]string{"absent", "opening", "up", "asking", "telling"}

func (s State) String() string {
	if s < states {
		return stateNames[s]
	}
	return "State(?)"
}

// lost says that posts are over and the position is fixed.
func (s State) lost() bool { return s == Asking || s == Telling }

// cell is what one event means in one state. r is nil in Absent.
type cell struct {
	text string
	do   func(m *Machine, r *record, e *Event)
}

// life is the whole dialogue: each cell is one function in rules.go.
type life [whats][states]cell

// table is never written. A Machine keeps a pointer to it since its own cells look into it.
var table = buildTable()

func buildTable() *life {
	var (
		ignore    = cell{"drop", func(*Machine, *record, *Event) {}}
		violation = cell{"error", func(m *Machine, _ *record, e *Event) { m.violated(e, "it can't be in this state") }}
		misuse    = cell{"-", func(m *Machine, _ *record, e *Event) { m.misused(e) }}

		open    = cell{"opening", (*Machine).open}
		hello   = cell{"up or opening, ACK; seen: BUSY", (*Machine).hello}
		twice   = cell{"my name: error, else drop", (*Machine).helloAgain}
		refuse  = cell{"BUSY, redial", (*Machine).refuseStranger}
		acked   = cell{"up", (*Machine).acked}
		busy    = cell{"absent", (*Machine).end}
		proved  = cell{"my nonce: endpoint fails", (*Machine).proved}
		broke   = cell{"asking, LOST(0) or marked", (*Machine).broke}
		unknown = cell{"peer's: burn id; GONE", (*Machine).unknown}
		first   = cell{"R3, purge, telling, LOST(1)", (*Machine).peerLost}
		asked   = cell{"purge, telling, LOST(1)", (*Machine).asked}
		again   = cell{"same: LOST(1), else error", (*Machine).asked}
		confirm = cell{"purge, absent, GONE", (*Machine).confirmed}
		both    = cell{"same: absent, GONE, else error", (*Machine).confirmed}
		early   = cell{"was up: error, else absent", (*Machine).goneWhileAsking}
		gone    = cell{"absent", (*Machine).end}
		mark    = cell{"marked", (*Machine).mark}
		send0   = cell{"LOST(0)", (*Machine).resend}
		send1   = cell{"LOST(1)", (*Machine).resend}
		over    = cell{"absent", (*Machine).ended}
	)
	t := new(life)
	//                              Absent   Opening    Up         Asking     Telling
	t[Opened] = [states]cell{open, misuse, misuse, misuse, misuse}
	t[HelloArrived] = [states]cell{hello, twice, ignore, ignore, ignore}
	t[StrangerArrived] = [states]cell{refuse, refuse, refuse, refuse, refuse}
	t[HelloAcked] = [states]cell{ignore, acked, ignore, ignore, ignore}
	t[BusyArrived] = [states]cell{ignore, busy, violation, ignore, ignore}
	t[ClosedArrived] = [states]cell{ignore, proved, violation, ignore, ignore}
	t[Broke] = [states]cell{ignore, broke, broke, ignore, ignore}
	t[LostArrived] = [states]cell{unknown, first, first, asked, again}
	t[lostConfirmed] = [states]cell{unknown, violation, violation, confirm, both}
	t[GoneArrived] = [states]cell{ignore, violation, violation, early, gone}
	t[carrierLost] = [states]cell{misuse, misuse, misuse, mark, mark}
	t[turnCame] = [states]cell{misuse, misuse, misuse, send0, send1}
	t[Dropped] = [states]cell{ignore, broke, broke, ignore, ignore}
	t[Ended] = [states]cell{over, over, over, over, over}
	return t
}

// Matrix prints the table for people and for the golden file.
func Matrix() string {
	var b strings.Builder
	line := func(first string, text func(State) string) {
		row := fmt.Sprintf("%-19s", first)
		for s := range states {
			row += fmt.Sprintf(" | %-34s", text(s))
		}
		b.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	line("event", State.String)
	for w := range whats {
		line(w.String(), func(s State) string { return table[w][s].text })
	}
	return b.String()
}
