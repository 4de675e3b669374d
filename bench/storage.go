package main

import (
	"context"
	"os"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/extension/extensiontest"
)

// storageHost is a host with a file storage of its own.
type storageHost struct {
	id        component.ID
	extension extension.Extension
	directory string
}

func (h *storageHost) GetExtensions() map[component.ID]component.Component {
	return map[component.ID]component.Component{h.id: h.extension}
}

func newStorageHost() (*storageHost, error) {
	dir, err := os.MkdirTemp("", "continuity-bench")
	if err != nil {
		return nil, err
	}
	f := filestorage.NewFactory()
	cfg, err := configure(f.CreateDefaultConfig(), map[string]any{"directory": dir, "create_directory": true})
	if err != nil {
		return nil, err
	}
	ext, err := f.Create(context.Background(), extensiontest.NewNopSettings(f.Type()), cfg)
	if err != nil {
		return nil, err
	}
	h := &storageHost{id: component.NewID(f.Type()), extension: ext, directory: dir}
	return h, ext.Start(context.Background(), h)
}

func (h *storageHost) close() error {
	err := h.extension.Shutdown(context.Background())
	if gone := os.RemoveAll(h.directory); err == nil {
		err = gone
	}
	return err
}

// storedCost is boundaryCost with a file storage, whose work counts too.
func storedCost(n int) (rate, error) {
	h, err := newStorageHost()
	if err != nil {
		return rate{}, err
	}
	r, err := boundaryCost(n, map[string]any{"storage": h.id.String()}, h)
	if closed := h.close(); err == nil {
		err = closed
	}
	return r, err
}
