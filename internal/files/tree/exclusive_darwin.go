package tree

import "golang.org/x/sys/unix"

// exclusive gives a name that must not exist.
func exclusive(from dir, old string, to dir, name string) error {
	return call("rename", name, func() error { return unix.RenameatxNp(from.fd(), old, to.fd(), name, unix.RENAME_EXCL) })
}
