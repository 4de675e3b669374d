package boundary

// squeeze appends what was packed without its zeros, of which there are many: for
// each eight bytes one that says which of them are none, then those. Where all eight
// are zeros, the number of such groups that follow.
func squeeze(to, packed []byte) []byte {
	for i := 0; i < len(packed); {
		group := packed[i:min(i+8, len(packed))]
		i += 8
		tag := len(to)
		to = append(to, 0)
		for n, b := range group {
			if b != 0 {
				to[tag] |= 1 << n
				to = append(to, b)
			}
		}
		if to[tag] != 0 {
			continue
		}
		more := 0
		for more < 255 && i+8 <= len(packed) && *(*[8]byte)(packed[i:]) == [8]byte{} {
			i, more = i+8, more+1
		}
		to = append(to, byte(more))
	}
	return to
}

// unsqueeze is the other way. Up to seven zeros follow at the end.
func unsqueeze(to, from []byte) []byte {
	for i := 0; i < len(from); {
		tag := from[i]
		i++
		if tag == 0 {
			for range int(from[i]) + 1 {
				to = append(to, 0, 0, 0, 0, 0, 0, 0, 0)
			}
			i++
			continue
		}
		var group [8]byte
		for n := range group {
			if tag&(1<<n) != 0 {
				group[n] = from[i]
				i++
			}
		}
		to = append(to, group[:]...)
	}
	return to
}
