package demo

import "syscall"

// attributes: a child is no part of the terminal's group, so that Ctrl-C is the parent's to handle; and it does
// not outlive the parent.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
