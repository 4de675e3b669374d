package signal

import (
	"encoding/binary"
	"math"
)

// A small writer of OTLP protobuf. Unlike pdata it can write a key twice and
// text that is not UTF-8, as senders can.

func field2(number int, content []byte) []byte {
	out := binary.AppendUvarint(nil, uint64(number)<<3|2)
	out = binary.AppendUvarint(out, uint64(len(content)))
	return append(out, content...)
}

func fieldVarint(number int, n uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(number)<<3), n)
}

func fieldFixed64(number int, n uint64) []byte {
	return binary.LittleEndian.AppendUint64(binary.AppendUvarint(nil, uint64(number)<<3|1), n)
}

func wireValue(v any) []byte {
	switch v := v.(type) {
	case string:
		return field2(1, []byte(v))
	case bool:
		n := uint64(0)
		if v {
			n = 1
		}
		return fieldVarint(2, n)
	case int64:
		return fieldVarint(3, uint64(v))
	case float64:
		return fieldFixed64(4, math.Float64bits(v))
	case []any:
		var list []byte
		for _, x := range v {
			list = append(list, field2(1, wireValue(x))...)
		}
		return field2(5, list)
	case []kv:
		return field2(6, wireAttrs(1, v))
	case []byte:
		return field2(7, v)
	default:
		return nil
	}
}

func wireAttrs(number int, attrs []kv) []byte {
	var out []byte
	for _, a := range attrs {
		out = append(out, field2(number, append(field2(1, []byte(a.key)), field2(2, wireValue(a.value))...))...)
	}
	return out
}

// wireLogs is one record in OTLP protobuf, with attributes on it and around it.
func wireLogs(name string, time uint64, attrs, around []kv) []byte {
	record := append(fieldFixed64(1, time), wireAttrs(6, attrs)...)
	record = append(record, field2(12, []byte(name))...)
	scope := append(field2(1, wireAttrs(3, around)), field2(2, record)...)
	return field2(1, append(field2(1, wireAttrs(1, around)), field2(2, scope)...))
}

// wireTraces is one span with one event in OTLP protobuf.
func wireTraces(name string, time uint64, attrs, around []kv) []byte {
	event := append(fieldFixed64(1, time), field2(2, []byte(name))...)
	event = append(event, wireAttrs(3, attrs)...)
	span := append(field2(5, []byte("step")), wireAttrs(9, around)...)
	span = append(span, field2(11, event)...)
	scope := field2(2, span)
	return field2(1, append(field2(1, wireAttrs(1, around)), field2(2, scope)...))
}
