// Package signal turns telemetry into boundary.Event.
//
// Reader walks a batch of spans or log records, recognises boundary events by
// name, reads them, and removes from them what must never pass. What it does
// not recognise costs a name check and is not touched.
//
// On its way an event goes through the files of this package in this order:
//
//	walk.go         finds events by name; recognizers.go maps what agents emit
//	lookup.go       whose event it is: session, agent, tenant
//	facts.go        one pass over the attributes; each fact with its duplicates
//	event.go        the facts as a boundary.Event, with statement.go,
//	                envelope.go, approval.go and fingerprint.go
//	hygiene.go      raw values go, malformed digests are redacted
//
// Nothing in an Event is a view into telemetry, everything is bounded, and all
// text that can be emitted is valid UTF-8. A stated value that cannot be read
// never falls back to something healthier than silence.
package signal
