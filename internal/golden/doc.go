// Package golden compares what a test has made with a file that is committed: tables of states, dialogues, bytes as text.
//
//	text --- Same ---> testdata/NAME     as it is, or the test fails and shows what differs
//	           |
//	           +-- BRAID_UPDATE=1 ---> the file is written anew: read the diff
//
// Tests import it, and nothing else does.
//
// Invariants:
//
//  1. Without BRAID_UPDATE it writes nothing.
//  2. A file that isn't there is a failure, never a new file.
package golden
