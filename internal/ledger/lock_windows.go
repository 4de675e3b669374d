package ledger

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// The lock lies far behind the end of the file, since Windows lets nobody else
// read a range that is locked.
const lockOffset = 1 << 30

func lockFile(file *os.File, wait bool) error {
	var flags uint32 = windows.LOCKFILE_EXCLUSIVE_LOCK
	if !wait {
		flags |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	err := windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: lockOffset})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION):
		return ErrBusy
	}
	return &os.PathError{Op: "lock", Path: file.Name(), Err: err}
}

// removeLocked frees a file first, since Windows removes none that is open. Another
// process may send it in between; the same event id again changes nothing.
func removeLocked(file *os.File) error {
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// syncDir does nothing: Windows writes names with the file.
func syncDir(string) error { return nil }
