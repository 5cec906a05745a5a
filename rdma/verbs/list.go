//go:build linux && verbs

package verbs

// #include "shim.h"
import "C"

import (
	"fmt"
	"sync"
	"syscall"
	"unsafe"

	"github.com/openbraid/braid/rdma"
)

// List is every port of every adapter of this host, those that can't be opened with the reason.
//
// Source: ibv_get_device_list, ibv_query_port.
func List() ([]Info, error) {
	var list []Info
	err := each(func(dev *C.struct_ibv_device) bool {
		name := C.GoString(C.ibv_get_device_name(dev))
		ctx, err := C.ibv_open_device(dev)
		if ctx == nil {
			list = append(list, Info{Name: name, Port: 1, Reason: fmt.Sprintf("it can't be opened: %v", err)})
			return true
		}
		defer C.ibv_close_device(ctx)
		var a C.struct_ibv_device_attr
		if e := C.ibv_query_device(ctx, &a); e != 0 {
			list = append(list, Info{Name: name, Port: 1, Reason: fmt.Sprintf("it does not say what it can: %v", errnoOf(e))})
			return true
		}
		for p := 1; p <= int(a.phys_port_cnt); p++ {
			list = append(list, port(ctx, name, p))
		}
		return true
	})
	return list, err
}

// port is how a port is.
func port(ctx *C.struct_ibv_context, name string, number int) Info {
	i := Info{Name: name, Port: number, State: rdma.PortDown}
	var p C.struct_ibv_port_attr
	if e := C.braid_query_port(ctx, C.uint8_t(number), &p); e != 0 {
		i.Reason = errnoOf(e).Error()
		return i
	}
	if p.state == C.IBV_PORT_ACTIVE {
		i.State = rdma.PortActive
	}
	i.MTU, i.GIDs = rdma.MTU(p.active_mtu), gids(ctx, C.uint8_t(number))
	if p.link_layer != C.IBV_LINK_LAYER_ETHERNET {
		i.Reason = "it is no Ethernet port: braid's peers are IP addresses (RoCE)"
	}
	return i
}

// Library is the file in which libibverbs is.
const Library = "libibverbs.so.1"

var loading sync.Mutex

// load finds the library, if this is the first call that needs it.
func load() error {
	loading.Lock()
	defer loading.Unlock()
	const room = 512
	name, why := C.CString(Library), (*C.char)(C.calloc(1, room))
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(why))
	if C.braid_load(name, why, room) == 0 {
		return fmt.Errorf("%w: %s", ErrNoLibrary, C.GoString(why))
	}
	return nil
}

// each hands over every device until do says that it is enough.
func each(do func(*C.struct_ibv_device) bool) error {
	if err := load(); err != nil {
		return err
	}
	var n C.int
	list, err := C.ibv_get_device_list(&n)
	if list == nil {
		if err == syscall.ENOSYS {
			return fmt.Errorf("%w: the kernel has no support for RDMA (ib_uverbs)", ErrNoDevice)
		}
		return fmt.Errorf("%w: %w", ErrNoDevice, err)
	}
	defer C.ibv_free_device_list(list)
	for _, dev := range unsafe.Slice(list, int(n)) {
		if !do(dev) {
			break
		}
	}
	return nil
}

// Find is the port that Open would open.
//
// Errors: ErrNotBuilt, ErrNoLibrary, ErrNoDevice, with what there is.
func Find(c Config) (Info, error) {
	list, err := List()
	if err != nil {
		return Info{}, err
	}
	for _, i := range list {
		if c.Name != "" && (c.Port != 0 || !c.Address.IsValid()) && i.Name == c.Name && i.Port == max(1, c.Port) {
			return i, nil
		}
		for _, g := range i.GIDs {
			if g.GID.IP() == c.Address.Unmap() && (c.Name == "" || c.Name == i.Name) {
				return i, nil
			}
		}
	}
	what := fmt.Sprintf("none has the address %v", c.Address)
	if c.Name != "" {
		what = fmt.Sprintf("%q, port %d, address %v", c.Name, max(1, c.Port), c.Address)
	}
	return Info{}, fmt.Errorf("%w: %s; there are: %s", ErrNoDevice, what, names(list))
}

func names(list []Info) string {
	if len(list) == 0 {
		return "none"
	}
	s := ""
	for _, i := range list {
		s += fmt.Sprintf("%s port %d %v; ", i.Name, i.Port, i.GIDs)
	}
	return s[:len(s)-2]
}

// openNamed opens a device by its name.
func openNamed(name string) (ctx *C.struct_ibv_context, err error) {
	found := false
	if e := each(func(dev *C.struct_ibv_device) bool {
		if C.GoString(C.ibv_get_device_name(dev)) != name {
			return true
		}
		found = true
		ctx, err = C.ibv_open_device(dev)
		return false
	}); e != nil {
		return nil, e
	}
	switch {
	case !found:
		list, _ := List()
		return nil, fmt.Errorf("%w: %q; there are: %s", ErrNoDevice, name, names(list))
	case ctx == nil:
		return nil, fmt.Errorf("verbs: %s can't be opened: %w", name, err)
	}
	live.Add(1)
	return ctx, nil
}
