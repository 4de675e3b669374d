package continuityprocessor

import (
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"
)

// shortWindow is less than many agents need for the turn in which they restate.
const shortWindow = 5 * time.Minute

// shortestWindow is shorter than any window that is meant: a number without a unit
// counts nanoseconds.
const shortestWindow = 100 * time.Millisecond

// warn speaks of settings that are valid and seldom meant.
func (cfg *Config) warn(logger *zap.Logger) {
	windows := map[string]time.Duration{"window": cfg.Window}
	for name, r := range cfg.Runtimes {
		if r.Window > 0 {
			windows["runtimes::"+name+"::window"] = r.Window
		}
	}
	for _, key := range slices.Sorted(maps.Keys(windows)) {
		window := windows[key]
		if window < shortWindow {
			logger.Warn("A short window raises alerts for agents that are merely slow: consider 5m or more",
				zap.String("key", key), zap.Duration("window", window))
		}
		if cfg.ReorderGrace >= window {
			logger.Warn("reorder_grace is not shorter than the window: an early observation may wait longer than its boundary lives",
				zap.String("key", key), zap.Duration("window", window), zap.Duration("reorder_grace", cfg.ReorderGrace))
		}
	}
}
