package ledger

import (
	"errors"
	"os"
	"time"
)

// ErrBusy says that another process holds the lock.
var ErrBusy = errors.New("another process holds the lock")

// lockWait is how long an append waits for others. They hold the lock for one
// write each, so this passes only where one was stopped in between.
const lockWait = 5 * time.Second

// openLocked opens a file to append to it, and waits for its exclusive lock. The
// kernel frees it when the process ends, however it ends.
func openLocked(path string, wait time.Duration) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	locked := make(chan error, 1)
	go func() { locked <- lockFile(file, true) }()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case err := <-locked:
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		return file, nil
	case <-timer.C:
		// The lock may still come, and must be given back then.
		go func() {
			_ = errors.Join(<-locked, file.Close()) // nothing was written to it
		}()
		return nil, ErrBusy
	}
}

// tryLock takes the lock or fails with ErrBusy.
func tryLock(file *os.File) error { return lockFile(file, false) }
