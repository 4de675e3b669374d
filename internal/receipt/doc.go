// Package receipt writes verdicts into telemetry: annotations beside the events
// that were judged, a receipt for each decided boundary, and its alerts.
//
// Nothing that it writes grants anything, and nothing that a sender wrote under
// one of its names survives on a recognised event. Every text is valid UTF-8 of
// at most 256 bytes.
package receipt
