//go:build !race

package continuityprocessor

const raced = false
