//go:build unix

package ledger

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func lockFile(file *os.File, wait bool) error {
	how := unix.LOCK_EX
	if !wait {
		how |= unix.LOCK_NB
	}
	for {
		err := unix.Flock(int(file.Fd()), how)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrBusy
		default:
			return &os.PathError{Op: "lock", Path: file.Name(), Err: err}
		}
	}
}

// removeLocked removes a file that this process has locked, and then frees it: who
// waits for the lock finds that its file is gone.
func removeLocked(file *os.File) error {
	return errors.Join(os.Remove(file.Name()), file.Close())
}

// syncDir makes the names in a folder durable.
func syncDir(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
