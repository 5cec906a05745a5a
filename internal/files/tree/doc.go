// Package tree is the two ends of a file transfer in the file system: what is sent is found and read, what arrives is written aside and
// gets its name when all of it is there.
//
//	Source   PATH... --scan--> list --Open--> bytes
//
//	Target   DIR                              DIR/photos/a.jpg
//	         DIR/.braid-3f9c.../photos/a.jpg --Commit---^
//	                 |
//	                 +-- Discard, or the next start after a crash
//
// Who may import it: internal/files. It imports internal/files/dialogue.
//
// Invariants:
//
//  1. Everything below DIR is reached name by name from a directory that is open, and no call follows a link: no name leads out of it, nor to another place in it. A directory
//     that was there when the list was looked at is the same one when names are given in it, or none is given.
//  2. Under a final name stands what was there before, or all of a file. Files that were written whole get there by a rename or a link, never by a write. A new name never replaces what came meanwhile, in one step where the system can do that.
//  3. Without Overwrite no file that exists is replaced: not when the list is looked at, and not when names are given.
//  4. Only directories and regular files are made, with permissions and nothing above them. Links and devices are neither sent nor made.
//  5. What a transfer has not committed is gone after Discard. The folder is locked while it is used, so another start knows whether somebody still does.
package tree
