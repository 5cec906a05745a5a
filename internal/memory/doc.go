// Package memory holds the regions that peers may write, and decides who may write where.
//
//	put frame{index, secret, offset, size} --> Table.Target --> bytes of the region, or why not
//
// The engine and the root package import it. It knows nothing of lanes or operations.
//
// Invariants:
//
//  1. No byte outside of [offset, offset+size) of a region that exists, whose key was given out
//     with the right asked for, is ever returned.
//  2. After Remove no new access is granted, and none begins of what was lent. Access that was granted before is counted; Busy says so.
//  3. A key's secret is 64 random bits, one for each region and set of rights.
//  4. A node's regions are safe for concurrent use; looking up takes no lock. What a worker has lent is its own.
//  5. What was lent is used again only when nobody reads it and its lender has let go of it.
package memory
