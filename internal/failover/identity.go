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

// Hello judges the names in a HELLO: my, of its sender, and yours, whom it means. R9: a HELLO never fails an
// endpoint, whatever is in it, since it may be a late one of a process that is long dead.
func (n Names) Hello(my, yours Identity) What {
	switch {
	case yours != Identity{} && yours != n.Mine:
		return MisaddressedArrived
	case n.Yours != Identity{} && my != n.Yours:
		return StrangerArrived
	}
	return HelloArrived
}

// Restarted says whether the incarnation in an EP_CLOSED is another one than that of the known peer. R9.
func (n Names) Restarted(incarnation uint64) bool {
	return n.Yours != Identity{} && incarnation != n.Yours.Incarnation
}
