package braid

// Progress does what can be done now, and returns how much that was. For Owned workers; a Shared worker needs
// it only where polling is wanted. Who calls it in a loop need not let others have the processor: it does so by itself, now and then if
// nobody wants it, soon if a peer on the same processor does.
//
// Source: ucp_worker_progress.
func (w *Worker) Progress() int { return w.desk.Progress() }

func (w *Worker) lock()       { w.desk.Lock() }
func (w *Worker) unlock()     { w.desk.Unlock() }
func (w *Worker) unlockOnly() { w.desk.UnlockOnly() }
