package classify

import "time"

// Instant is a stated time in Unix nanoseconds; 0 is no time. A time in whole
// seconds is compared in whole seconds.
type Instant int64

// At converts a time.
func At(t time.Time) Instant { return Instant(t.UnixNano()) }

// Time converts back; the zero Instant gives the zero time.
func (i Instant) Time() time.Time {
	if i == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(i))
}

func (i Instant) whole() bool { return int64(i)%int64(time.Second) == 0 }

func (i Instant) seconds() int64 { return int64(i) / int64(time.Second) }

// After reports whether i is later than j, in whole seconds where one of them
// is.
func (i Instant) After(j Instant) bool {
	if i.whole() || j.whole() {
		return i.seconds() > j.seconds()
	}
	return i > j
}

// Before reports whether i is earlier than j, in whole seconds where one of
// them is.
func (i Instant) Before(j Instant) bool { return j.After(i) }

// Add returns i moved by d.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d) }

var year2020 = At(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))

// Plausible reports whether an event's own time can be believed: after 2020 and
// not more than a day ahead of its receipt.
func (i Instant) Plausible(receipt Instant) bool {
	return i > year2020 && i <= receipt.Add(24*time.Hour)
}

// Or returns the event's own time where it is plausible, else its receipt.
func (i Instant) Or(receipt Instant) Instant {
	if i.Plausible(receipt) {
		return i
	}
	return receipt
}
