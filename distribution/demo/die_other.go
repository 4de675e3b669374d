//go:build !linux

package main

import "syscall"

// dieWithParent: only Linux can end the collector when the demo is killed. In
// all other cases the demo does it.
func dieWithParent() *syscall.SysProcAttr { return nil }
