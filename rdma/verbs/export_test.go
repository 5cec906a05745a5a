//go:build linux && verbs

package verbs

import "github.com/openbraid/braid/rdma"

// AsyncFD is the descriptor of a device's asynchronous events.
func AsyncFD(d rdma.Device) int { return int(d.(*device).ctx.async_fd) }
