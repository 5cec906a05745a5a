// Package live shows on a terminal what lanes carry, as it changes: a plot and a few lines at the bottom, drawn again and again, and above
// them what happens, line by line, as on any other output.
//
//	 2.50 s   DOWN 10.0.0.5->10.0.0.6: connection reset by peer       <-- Line: stays, and scrolls away
//	612 ┤      ╭───╮  ╭──                                            <-- Show: drawn again
//	  0 ┼──────╯   ╰──╯
//	● 10.0.0.5->10.0.0.6        612 MB/s    2.8 GB  up
//	━━━━━━━━━━━━━━━━━━━━──────────   67 %  2.8 GB of 4.2 GB  1.2 GB/s  0:02 left
//
// There is no full screen, no key and no state of the terminal that would have to be put back: what the program printed before stays, and who kills it
// finds his terminal as it was.
//
// Who may import it: programs.
//
// Invariants:
//
//  1. What is not a terminal gets no control characters, and nothing is drawn there.
//  2. No line that is drawn is wider than the terminal, so it can be taken back.
//  3. It starts nothing and looks at no clock: times are handed in.
package live
