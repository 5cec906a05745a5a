// Package softrc is transport/rc over RDMA devices in software that speak RoCEv2 through UDP sockets: no hardware, no privilege.
//
//	braid.Options{Transports: []transport.Transport{softrc.New(softrc.Options{}), self.New()}}
//
// Programs import it; it brings together transport/rc and rdma/soft, which don't know each other. Linux only: elsewhere listening and
// dialing say so.
package softrc
