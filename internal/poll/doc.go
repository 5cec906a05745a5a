// Package poll asks the system which of many descriptors are ready, without waiting for any: epoll, or kqueue.
//
//	Set(fd, what it was watched for, what it is watched for now) ... Poll --> those that are ready, level-triggered
//
// Transports import it. Invariants:
//
//  1. Who watches keeps the account of what each descriptor is watched for.
//  2. The poller's own descriptor is readable while one of those is ready: who wants to sleep waits for that.
package poll
