// Package share says which part of a long list of tests is to run.
//
//	BRAID_PART=2/3  -->  share.Of  -->  the second, the fifth, the eighth... of the list
//
// Those of a list that has no order go by their place in it, so that parts take about as long as each other.
//
// Tests under test/ import it; it imports nothing of the module.
package share
