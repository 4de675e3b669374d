//go:build unix

package probe

import (
	"os/exec"
	"syscall"
)

// contain puts a command into a process group of its own, which ends with it: what
// it started must not outlive its timeout.
func contain(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
