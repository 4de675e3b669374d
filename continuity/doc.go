// Package continuity puts an agent's decisions into OpenTelemetry: a [Snapshot]
// of what is in force before the agent's context is compacted, an [Observation]
// of what the agent restates afterwards, and [Approval] records from outside the
// agent. The continuity processor of the collector pairs and compares them.
//
// Decisions leave the process as digests, never as values. A [Digester] makes
// them by canonical form v1, so that equal decisions have equal digests whoever
// writes them. A [Kind] says which spellings of a value are one.
//
// An event goes on the current span with [Record], to a logger with [Emit], to
// both with [Publish], or anywhere else by its name and attributes. What the
// processor could not understand is an error here, which never holds a value.
//
// Nothing in this package grants anything: what a snapshot, a summary or an agent
// says is evidence of what the agent knows, never of what it may do.
package continuity
