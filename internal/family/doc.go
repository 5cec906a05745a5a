// Package family is the active message ids that the library's own families of messages travel under: one table, so that no two take the same.
//
//	0 ........................ 65279 | 65280 ... 65295 | 65296 ... 65311 | 65312 ... 65327 | ...
//	a program's own                  | tagged messages | streams         | offers          | free
//
// The root package and the rooms of families import it. Invariants:
//
//  1. A program can neither send to an id of the library's own nor handle one.
//  2. Each family has its ids to itself. An id that was given to one is never another's later.
package family
