package main

import (
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is what the process has used of all processors: the machine may be
// shared, and components work in goroutines of their own.
func cpuTime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts); err != nil {
		panic(err)
	}
	return time.Duration(ts.Nano())
}

// liveHeap is what is reachable, in bytes.
func liveHeap() int64 {
	runtime.GC()
	runtime.GC() // what the first one swept late
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

func median[T int64 | uint64 | float64 | time.Duration](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// quantile of sorted values.
func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[int(q*float64(len(sorted)-1))]
}
