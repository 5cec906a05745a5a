// Package greeting is what two sides say on the socket before there is a ring: who dials offers memory, who accepts takes it or says why not.
//
//	offer:   | "braidshm" | version 32 | slots 32 | data 32 | number 32 | mark: where 64, 16 bytes |     and the memory
//	answer:  | "braidshm" | version 32 | code 32 | mark: where 64, 16 bytes |
//
// Little-endian. The mark is for who may read the other's memory (package cma); where it stands is 0 of who does not offer that. Pure: bytes in, values out.
// transport/shm imports it.
package greeting
