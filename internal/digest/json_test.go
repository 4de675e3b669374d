package digest

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// anyValue draws JSON values without what has no canonical form.
func anyValue(depth int) *rapid.Generator[any] {
	kinds := []*rapid.Generator[any]{
		rapid.Just[any](nil),
		rapid.Bool().AsAny(),
		rapid.Int64Range(-1<<53, 1<<53).AsAny(),
		rapid.Float64Range(-1e6, 1e6).AsAny(),
		rapid.Float64Range(-1e-300, 1e-300).AsAny(),
		anyText().AsAny(),
	}
	if depth > 0 {
		kinds = append(kinds,
			rapid.SliceOfN(anyValue(depth-1), 0, 4).AsAny(),
			rapid.MapOfN(rapid.Map(anyText(), norm.NFC.String), anyValue(depth-1), 0, 4).AsAny())
	}
	return rapid.OneOf(kinds...)
}

// spell writes a value with everything that JSON leaves open drawn anew: the order
// of keys, blanks, escapes, the form of Unicode and the spelling of numbers.
func spell(t *rapid.T, value any) string {
	blank := rapid.SampledFrom([]string{"", " ", "\n\t", "\r\n"}).Draw(t, "blank")
	switch value := value.(type) {
	case []any:
		parts := make([]string, len(value))
		for i := range value {
			parts[i] = spell(t, value[i])
		}
		return "[" + blank + strings.Join(parts, blank+",") + blank + "]"
	case map[string]any:
		keys := make([]string, 0, len(value))
		for key := range value {
			keys = append(keys, key)
		}
		parts := make([]string, 0, len(value))
		for _, key := range rapid.Permutation(keys).Draw(t, "keys") {
			parts = append(parts, spell(t, key)+blank+":"+spell(t, value[key]))
		}
		return "{" + strings.Join(parts, blank+","+blank) + "}"
	case string:
		if rapid.Bool().Draw(t, "NFD") {
			value = norm.NFD.String(value)
		}
		quoted, err := json.Marshal(value)
		require.NoError(t, err)
		if rapid.Bool().Draw(t, "ASCII") {
			return ascii(string(quoted))
		}
		return string(quoted)
	case int64:
		return strconv.FormatInt(value, 10) + rapid.SampledFrom([]string{"", ".0", "e0", "E+00"}).Draw(t, "number")
	case float64:
		return strconv.FormatFloat(value, rapid.SampledFrom([]byte("eg")).Draw(t, "number"), -1, 64)
	default:
		return fmt.Sprint(map[any]string{nil: "null", true: "true", false: "false"}[value])
	}
}

// ascii escapes all of a quoted string that is not ASCII.
func ascii(quoted string) string {
	var out strings.Builder
	for _, r := range quoted {
		switch {
		case r < 0x80:
			out.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&out, `\u%04X`, r)
		default:
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		}
	}
	return out.String()
}

func TestJSONProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := anyValue(3).Draw(t, "value")
		one, oneErr := JSON([]byte(spell(t, value)))
		other, otherErr := JSON([]byte(" " + spell(t, value) + "\n"))
		if oneErr != nil {
			require.ErrorIs(t, otherErr, oneErr)
			require.ErrorIs(t, oneErr, ErrPlaceholder)
			return
		}
		require.NoError(t, otherErr)
		require.Equal(t, string(one), string(other), "one value, spelled in two ways")
		again, err := JSON(one)
		require.NoError(t, err)
		require.Equal(t, string(one), string(again), "a canonical document is its own canonical form")
		require.True(t, norm.NFC.IsNormalString(string(one)))
	})
}

// TestNoTwoIntegersAreOne: what is not refused keeps its digits.
func TestNoTwoIntegersAreOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		near := rapid.SampledFrom([]int64{0, 1 << 52, 1 << 53, -1 << 53, 1 << 60}).Draw(t, "near")
		n := near + rapid.Int64Range(-3, 3).Draw(t, "off")
		canonical, err := JSON([]byte(strconv.FormatInt(n, 10)))
		if n < -1<<53 || n > 1<<53 {
			require.ErrorIs(t, err, ErrJSON)
			return
		}
		require.NoError(t, err)
		require.Equal(t, strconv.FormatInt(n, 10), string(canonical))
	})
}

// TestNoFractionBecomesAnInteger, of any size.
func TestNoFractionBecomesAnInteger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := fmt.Sprintf("%s%d.%se%d", rapid.SampledFrom([]string{"", "-"}).Draw(t, "sign"),
			rapid.Uint64().Draw(t, "whole"), rapid.StringMatching(`[0-9]{1,30}`).Draw(t, "fraction"), rapid.IntRange(-340, 340).Draw(t, "exponent"))
		canonical, err := JSON([]byte(text))
		if err != nil {
			require.ErrorIs(t, err, ErrJSON)
			return
		}
		exact, ok := new(big.Rat).SetString(text)
		require.True(t, ok)
		written, ok := new(big.Rat).SetString(string(canonical))
		require.True(t, ok)
		require.Equal(t, exact.IsInt(), written.IsInt(), "%s became %s", text, canonical)
		if exact.IsInt() {
			require.Zero(t, exact.Cmp(written))
		}
	})
}

func TestNestingIsBounded(t *testing.T) {
	for depth, ok := range map[int]bool{maxDepth: true, maxDepth + 1: false, 100_000: false, 5_000_000: false} {
		_, err := JSON([]byte(strings.Repeat("[", depth) + strings.Repeat("]", depth)))
		if ok {
			assert.NoError(t, err, depth)
		} else {
			assert.ErrorIs(t, err, ErrJSON, depth)
		}
		_, err = JSON([]byte(strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth)))
		if ok {
			assert.NoError(t, err, depth)
		} else {
			assert.ErrorIs(t, err, ErrJSON, depth)
		}
	}
}

// TestHostileNumbersCostLittle: none of these may be computed.
func TestHostileNumbersCostLittle(t *testing.T) {
	for _, text := range []string{
		"1e999999999", "-1e999999999", "1e-999999999", "0." + strings.Repeat("0", 1<<20) + "1", strings.Repeat("9", 1<<20),
		"1e" + strings.Repeat("9", 1<<20), "1." + strings.Repeat("0", 2000) + "1",
	} {
		_, err := JSON([]byte(text))
		assert.ErrorIs(t, err, ErrJSON)
	}
	for _, text := range []string{"0e999999999", "-0.000E-99999", "0e" + strings.Repeat("0", 2000)} {
		canonical, err := JSON([]byte(text))
		require.NoError(t, err)
		assert.Equal(t, "0", string(canonical))
	}
}

// TestErrorsHoldNothingOfTheValue: they end up in logs.
func TestErrorsHoldNothingOfTheValue(t *testing.T) {
	for _, document := range []string{
		`hunter2`, `"hunter2`, `{"hunter2":1,"hunter2":2}`, `{"hunter2":}`, `["hunter2" 1]`, `"hunter2\ud800"`, `[hunter2]`,
		`9007199254740993`, `1e400`, `{"a":hunter2}`, `"hunter2" 9007199254740993`, "\"hunter2\xff\"",
	} {
		_, err := JSON([]byte(document))
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "hunter")
		assert.NotContains(t, err.Error(), "'")
		assert.NotContains(t, err.Error(), "9007")
		assert.NotContains(t, err.Error(), "e400")
	}
}

// FuzzJSON: whatever has a canonical form is its own, and means the same to
// another reader.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`{"b":1.0,"a":[null,"e\u0301"]}`, `9007199254740993`, `-0`, `1e400`, `"\ud800"`, `"\ud83d\ude00"`, `"\\ud800"`, `{"\u0061":1,"a":2}`,
		`"n\/a"`, `[1,]`, "\ufeff1", `{"a":{"a":{}}}`, `0.1`, `1e-7`, "\"\xff\"", `"\u0000\u001f"`, `5e-324`, `[[[]]]`, ` "x" `,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		canonical, err := JSON(document)
		if err != nil {
			require.Nil(t, canonical)
			return
		}
		require.True(t, json.Valid(canonical))
		again, err := JSON(canonical)
		require.NoError(t, err)
		require.Equal(t, string(canonical), string(again))
		_, fault := Parse(Of(canonical, nil).String())
		require.Equal(t, OK, fault)

		var before, after any
		require.NoError(t, json.Unmarshal(document, &before))
		require.NoError(t, json.Unmarshal(canonical, &after))
		require.Equal(t, inNFC(before), after)
	})
}

func inNFC(value any) any {
	switch value := value.(type) {
	case string:
		return norm.NFC.String(value)
	case float64:
		if value == 0 {
			return math.Abs(value) // -0 is 0
		}
	case []any:
		for i := range value {
			value[i] = inNFC(value[i])
		}
	case map[string]any:
		out := map[string]any{}
		for key, item := range value {
			out[norm.NFC.String(key)] = inNFC(item)
		}
		return out
	}
	return value
}
