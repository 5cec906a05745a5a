//go:build !linux || !cgo || !verbs

package verbs

import "github.com/openbraid/braid/rdma"

// Built says whether this program has the code for adapters in it.
const Built = false

// Open says that there is none: ErrNotBuilt.
func Open(Config) (rdma.Device, error) { return nil, ErrNotBuilt }

// Find says that none can be known: ErrNotBuilt.
func Find(Config) (Info, error) { return Info{}, ErrNotBuilt }

// List says that none can be known: ErrNotBuilt.
func List() ([]Info, error) { return nil, ErrNotBuilt }

// Objects is how many objects of libibverbs the process has at the moment.
func Objects() int { return 0 }
