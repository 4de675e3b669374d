package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is checked in is what the code gives, and nothing else lies there.
func TestUpToDate(t *testing.T) {
	files, err := filepath.Glob("../*.json")
	require.NoError(t, err)
	require.Len(t, files, len(dashboards()))
	for name, d := range dashboards() {
		want, err := encode(d)
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join("..", name))
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), "%s is out of date: make generate", name)
	}
}

// No two panels lie on each other, and none sticks out.
func TestLayout(t *testing.T) {
	for name, d := range dashboards() {
		taken := map[[2]int]string{}
		for _, p := range d.Panels {
			g := p.GridPos
			require.LessOrEqual(t, g.X+g.W, width, p.Title)
			for x := g.X; x < g.X+g.W; x++ {
				for y := g.Y; y < g.Y+g.H; y++ {
					require.Empty(t, taken[[2]int{x, y}], "%s: %s", name, p.Title)
					taken[[2]int{x, y}] = p.Title + "."
				}
			}
		}
	}
}
