// Package textfile reads the short files that people name: settings and secrets.
//
//	name ──open, wait, read──> File{Text} ──Private──> may a secret stand in it?
//
// A name may stand for a pipe, as that of <(pass braid) does. So reading has a limit of bytes, and waiting one of time.
//
// Everybody may import it.
//
// Invariants:
//
//  1. Read ends within Patience, whatever the name stands for, unless the file system itself hangs.
//  2. Whose a file is, and who may read it, is asked of what was opened, whatever its name stands for by then.
package textfile
