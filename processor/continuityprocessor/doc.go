// Package continuityprocessor checks at every context compaction of an AI agent that the
// decisions in force before are still in force after.
//
// A batch goes through these files in this order, and is then passed on:
//
//	request.go      takes its events one by one, then annotates them
//	state.go        the sessions, in shards: each a lock and a pure core
//	store.go        with storage, the request waits here until its events are stored
//	outbox.go       what was decided, until it is taken
//
// Three kinds of goroutines are the processor's own: one for deadlines (expiry.go), one
// for each pipeline that hands receipts on (emitter.go), and with storage one that
// writes (writer.go; load.go reads at the start, entries.go has the keys). shared.go
// starts and ends them; factory.go says which pipelines share a state.
//
// The next consumer is never called under a lock, and never from a request but for that
// request's own data.
package continuityprocessor

//go:generate go tool -modfile=../../tools/go.mod mdatagen metadata.yaml
