// Package lane holds the lanes of an endpoint: the paths on which lanes are built again and
// again, and the lane instances, each one life on a path.
//
//	path 0  127.0.0.1 -> 127.0.0.1:7777   instance d1 (lost), d3 (up)
//	path 1  127.0.0.2 -> 127.0.0.2:7777   instance d2 (up)
//
// Only the engine imports it.
//
//	          Answered            Broke
//	opening ------------> up ------------> lost ---Ended---> closed
//	   \__________________Broke____________^                   ^
//	    \_____________________________________Ended____________/
//
// Invariants:
//
//  1. An instance's state is written by Note only, by the table above.
//  2. An instance is never used again: a path gets a new one.
//  3. The order of a set is the order in which its instances came up.
package lane
