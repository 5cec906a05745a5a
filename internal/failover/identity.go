package failover

// Identity names one end of an endpoint: the process's incarnation, and the endpoint within it, since an
// endpoint that is closed and opened again in one process is another one. The zero Identity is "not known".
type Identity struct {
	Incarnation uint64
	Endpoint    uint64
}

// Names are the two ends of an endpoint as one side knows them.
type Names struct {
	Mine  Identity
	Yours Identity // zero until the peer told
}

// Hello judges who says HELLO to this endpoint. R9: it never fails an endpoint, whoever it is, since it may be a late one of a process that is long
// dead. One that is for another endpoint is none of this one's: whoever looks endpoints up answers EP_CLOSED.
func (n Names) Hello(my Identity) What {
	if n.Yours != (Identity{}) && my != n.Yours {
		return StrangerArrived
	}
	return HelloArrived
}

// Restarted says whether the incarnation in an EP_CLOSED is another one than that of the known peer. R9.
func (n Names) Restarted(incarnation uint64) bool {
	return n.Yours != Identity{} && incarnation != n.Yours.Incarnation
}
