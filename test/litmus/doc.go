// Package litmus runs small programs of operations, fences and flushes over the real engine and a steered network, in every order
// in which things can arrive, with a lane that breaks at every point.
//
//	program  Q | P F       a big put, a fence, a put, a flush
//	state    each side, hashed; what is between them
//	steps    post · arrive · be told of a cut · cut; time passes when nothing else can happen
//
// It holds tests only: make litmus.
//
// Invariants, checked at each effect at the target:
//
//  1. What is before a fence is done before anything behind it has an effect.
//  2. Nothing is executed twice; a signal comes after all bytes of its put; messages keep their order.
//  3. A flush that ended covered what was before it. Each path ends, with everything executed.
package litmus
