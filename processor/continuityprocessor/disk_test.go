package continuityprocessor

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/agentcontinuity/otelcol-continuity/processor/continuityprocessor/internal/metadata"
)

var (
	storageID   = component.MustNewID("file_storage")
	processorID = component.NewID(metadata.Type)
)

// disk is a storage in memory whose faults are set from outside.
type disk struct {
	component.StartFunc
	component.ShutdownFunc
	// indexed disks have clients that cannot walk.
	indexed bool

	mu      sync.Mutex
	entries map[string][]byte
	fault   error
	hang    chan struct{} // transactions wait until it is closed
	batches [][]*storage.Operation
	clients int
	open    int
}

var _ storage.Extension = (*disk)(nil)

func newDisk() *disk { return &disk{entries: map[string][]byte{}} }

func (d *disk) GetClient(context.Context, component.Kind, component.ID, string) (storage.Client, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clients++
	d.open++
	if d.indexed {
		return &diskClient{d}, nil
	}
	return &walker{diskClient{d}}, nil
}

// copied is what a process that is killed now leaves behind.
func (d *disk) copied() *disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &disk{indexed: d.indexed, entries: maps.Clone(d.entries)}
}

func (d *disk) set(fault error, hang chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault, d.hang = fault, hang
}

// keys are the keys that begin so.
func (d *disk) keys(prefix string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for _, key := range slices.Sorted(maps.Keys(d.entries)) {
		if strings.HasPrefix(key, prefix) {
			out = append(out, key)
		}
	}
	return out
}

func (d *disk) written() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.batches)
}

type diskClient struct{ *disk }

func (c *diskClient) Get(ctx context.Context, key string) ([]byte, error) {
	op := storage.GetOperation(key)
	err := c.do(ctx, op)
	return op.Value, err
}

func (c *diskClient) Set(ctx context.Context, key string, value []byte) error {
	return c.do(ctx, storage.SetOperation(key, value))
}

func (c *diskClient) Delete(ctx context.Context, key string) error {
	return c.do(ctx, storage.DeleteOperation(key))
}

func (c *diskClient) Batch(ctx context.Context, ops ...*storage.Operation) error {
	c.mu.Lock()
	hang := c.hang
	c.mu.Unlock()
	if hang != nil {
		<-hang // as file_storage does, whatever the context says
	}
	c.mu.Lock()
	c.batches = append(c.batches, ops)
	c.mu.Unlock()
	return c.do(ctx, ops...)
}

func (c *diskClient) do(_ context.Context, ops ...*storage.Operation) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fault != nil {
		return c.fault
	}
	for _, op := range ops {
		switch op.Type {
		case storage.Get:
			op.Value = bytes.Clone(c.entries[op.Key])
		case storage.Set:
			c.entries[op.Key] = bytes.Clone(op.Value)
		case storage.Delete:
			delete(c.entries, op.Key)
		}
	}
	return nil
}

func (c *diskClient) Close(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
	if c.open < 0 {
		return errors.New("closed twice")
	}
	return c.fault
}

// walker is a client that can walk.
type walker struct{ diskClient }

func (c *walker) Walk(ctx context.Context, fn storage.WalkFunc) error {
	c.mu.Lock()
	entries, fault := maps.Clone(c.entries), c.fault
	c.mu.Unlock()
	if fault != nil {
		return fault
	}
	var ops []*storage.Operation
	for key, value := range entries {
		value = bytes.Clone(value)
		more, err := fn(key, value)
		clear(value) // it was valid during the call only
		if err != nil {
			return err
		}
		ops = append(ops, more...)
	}
	return c.do(ctx, ops...)
}

// storageHost has a storage extension, and keeps the status that is reported.
type storageHost struct {
	component.Host
	ext component.Component

	mu     sync.Mutex
	events []*componentstatus.Event
}

func newStorageHost(ext component.Component) *storageHost {
	return &storageHost{Host: componenttest.NewNopHost(), ext: ext}
}

func (h *storageHost) GetExtensions() map[component.ID]component.Component {
	return map[component.ID]component.Component{storageID: h.ext}
}

func (h *storageHost) Report(e *componentstatus.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
}

func (h *storageHost) statuses() []componentstatus.Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []componentstatus.Status
	for _, e := range h.events {
		out = append(out, e.Status())
	}
	return out
}

// fileStorage is the real extension on a directory.
func fileStorage(t *testing.T, dir string) component.Component {
	t.Helper()
	f := filestorage.NewFactory()
	cfg := f.CreateDefaultConfig().(*filestorage.Config)
	cfg.Directory = dir
	ext, err := f.Create(t.Context(), extensiontest.NewNopSettings(f.Type()), cfg)
	require.NoError(t, err)
	require.NoError(t, ext.Start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(func() { require.NoError(t, ext.Shutdown(context.Background())) })
	return ext
}

func withStorage(c *Config) { c.Storage = &storageID }

// settings are those of the same processor in another process.
func settings() processor.Settings {
	set := processortest.NewNopSettings(metadata.Type)
	set.ID = processorID
	return set
}

// durable creates both pipelines with storage and starts them; they are shut down
// when the test ends, if they were not before.
func durable(t *testing.T, host component.Host, change ...func(*Config)) *pipelines {
	t.Helper()
	return durableWith(t, settings(), host, change...)
}

func durableWith(t *testing.T, set processor.Settings, host component.Host, change ...func(*Config)) *pipelines {
	t.Helper()
	p := &pipelines{t: t, tracesOut: new(consumertest.TracesSink), logsOut: new(consumertest.LogsSink)}
	cfg := defaultConfig(append([]func(*Config){withStorage}, change...)...)
	require.NoError(t, cfg.Validate())
	f := NewFactory()
	var err error
	p.traces, err = f.CreateTraces(t.Context(), set, cfg, p.tracesOut)
	require.NoError(t, err)
	p.logs, err = f.CreateLogs(t.Context(), set, cfg, p.logsOut)
	require.NoError(t, err)
	require.NoError(t, p.traces.Start(t.Context(), host))
	require.NoError(t, p.logs.Start(t.Context(), host))
	t.Cleanup(p.stop)
	return p
}
