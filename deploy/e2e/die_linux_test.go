package e2e_test

import "syscall"

// dieWithParent lets the kernel end what a test started that was killed itself.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
