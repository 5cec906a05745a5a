package demo

import "syscall"

// attributes: a child is no part of the terminal's group, so that Ctrl-C is the parent's to handle. That the
// parent is gone it learns from the end of its input.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
