// Package multiproc tests what only several processes can show: a peer that is killed, stopped or restarted, links
// that go down between network namespaces, and the module as others build it.
//
//	test (first process)                     the same binary again, with a job in its environment
//	   |  start(job)  ------------------------>  role(job)
//	   |  tell "count" --- its standard input -->  hears commands
//	   |  expect "count" <-- its standard output -  says lines
//	   |  SIGKILL SIGSTOP SIGCONT ------------->
//	   v
//	braid under test  <===== TCP, loopback or veth =====>  braid under test
//
// It holds tests only, named by the rows of what users of such libraries run into: TestA1_... is row A1. What needs root,
// network namespaces or the ip command is skipped with the reason where that is missing.
//
// Invariants:
//
//  1. Every wait has a deadline.
//  2. No process outlives its test: a second process ends when its standard input does, and at the latest after a minute.
//  3. No goroutine of the first process outlives its test.
//  4. Bounds on time are far from what is measured, and far from the default that would apply if a setting were ignored.
package multiproc
