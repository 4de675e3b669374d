package main

import "syscall"

// dieWithParent lets the kernel end the collector when the demo is killed and
// cannot do it any more.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
