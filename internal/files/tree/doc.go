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
//  1. Everything below DIR is reached through os.Root: no name and no link leads out of it.
//  2. Under a final name stands what was there before, or all of a file. Files that were written whole get there by a rename or a link, never by a write.
//  3. Without Overwrite no file that exists is replaced: not when the list is looked at, and not when names are given.
//  4. Only directories and regular files are made, with permissions and nothing above them. Links and devices are neither sent nor made.
//  5. What a transfer has not committed is gone after Discard. The folder is locked while it is used, so another start knows whether somebody still does.
package tree
