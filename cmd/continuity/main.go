// Command continuity records an agent's decisions, takes snapshots of them before
// the agent's context is compacted, reports what the agent restates afterwards,
// and looks at what came of it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, osApp(), os.Args[1:])
	stop()
	os.Exit(code)
}
