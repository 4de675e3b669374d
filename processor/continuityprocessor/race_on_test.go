//go:build race

package continuityprocessor

// raced is set where the race detector makes everything ten times slower.
const raced = true
