package digest

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sum is the hex of no placeholder, and sumBytes what it stands for.
const sum = "abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789"

var sumBytes = [32]byte{
	0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67, 0x89,
	0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67, 0x89,
}

var (
	plain = Digest{Alg: SHA256, Sum: sumBytes}
	keyed = Digest{Alg: HMACSHA256, Sum: sumBytes}
)

// TestParse has a row for each form of the contract.
func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		want  Digest
		fault Fault
	}{
		"sha256":                   {"sha256:" + sum, plain, OK},
		"hmac":                     {"hmac-sha256:" + sum, keyed, OK},
		"upper case":               {strings.ToUpper("sha256:" + sum), plain, OK},
		"upper case hex":           {"sha256:" + strings.ToUpper(sum), plain, OK},
		"upper case prefix":        {"SHA256:" + sum, plain, OK},
		"mixed case":               {"sHa256:aBCdeF" + sum[6:], plain, OK},
		"upper case hmac":          {strings.ToUpper("hmac-sha256:" + sum), keyed, OK},
		"blanks":                   {"  sha256:" + sum + " ", plain, OK},
		"tab and newline":          {"\tsha256:" + sum + "\r\n", plain, OK},
		"blanks around hmac":       {" hmac-sha256:" + sum + " ", keyed, OK},
		"none":                     {"none", None, OK},
		"None":                     {"None", None, OK},
		"NONE":                     {"NONE", None, OK},
		"nOnE":                     {"nOnE", None, OK},
		"none between blanks":      {" none\n", None, OK},
		"zeros are a value":        {"sha256:" + strings.Repeat("0", 64), Digest{Alg: SHA256}, OK},
		"nothing":                  {"", Digest{}, Malformed},
		"blanks only":              {" \n", Digest{}, Malformed},
		"no prefix":                {sum, Digest{}, Malformed},
		"prefix only":              {"sha256:", Digest{}, Malformed},
		"colon only":               {":" + sum, Digest{}, Malformed},
		"base64":                   {"sha256:q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=", Digest{}, Malformed},
		"base64 without prefix":    {"q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=", Digest{}, Malformed},
		"no hex":                   {"sha256:" + strings.Repeat("ag", 32), Digest{}, Malformed},
		"last digit no hex":        {"sha256:" + sum[:63] + "g", Digest{}, Malformed},
		"truncated":                {"sha256:" + sum[:32], Digest{}, Malformed},
		"a byte short":             {"sha256:" + sum[:62], Digest{}, Malformed},
		"a digit short":            {"sha256:" + sum[:63], Digest{}, Malformed},
		"truncated, filled up":     {"sha256:" + sum[:61] + "...", Digest{}, Malformed},
		"a digit too long":         {"sha256:" + sum + "0", Digest{}, Malformed},
		"twice":                    {"sha256:" + sum + sum, Digest{}, Malformed},
		"two of them":              {"sha256:" + sum + " sha256:" + sum, Digest{}, Malformed},
		"hmac truncated":           {"hmac-sha256:" + sum[:60], Digest{}, Malformed},
		"hmac too long":            {"hmac-sha256:" + sum + "00", Digest{}, Malformed},
		"hmac is not its tail":     {"hmac-sha256:" + sum[:59], Digest{}, Malformed},
		"blank behind the colon":   {"sha256: " + sum, Digest{}, Malformed},
		"blank instead of a digit": {"sha256:" + sum[:63] + " ", Digest{}, Malformed},
		"blank inside":             {"sha256:" + sum[:32] + " " + sum[33:], Digest{}, Malformed},
		"newline inside":           {"sha256:" + sum[:32] + "\n" + sum[33:], Digest{}, Malformed},
		"other separator":          {"sha256-" + sum, Digest{}, Malformed},
		"other spelling":           {"sha-256:" + sum, Digest{}, Malformed},
		"long s":                   {"\u017fha256:" + sum, Digest{}, Malformed},
		"other algorithm":          {"sha512:" + sum, Digest{}, Malformed},
		"other keyed algorithm":    {"hmac-sha512:" + sum, Digest{}, Malformed},
		"md5":                      {"md5:d41d8cd98f00b204e9800998ecf8427e", Digest{}, Malformed},
		"hex mark":                 {"sha256:0x" + sum[2:], Digest{}, Malformed},
		"quoted":                   {`"sha256:` + sum + `"`, Digest{}, Malformed},
		"prefix twice":             {"sha256:sha256:" + sum, Digest{}, Malformed},
		"prefix of none":           {"sha256:none", Digest{}, Malformed},
		"other placeholder":        {"n/a", Digest{}, Malformed},
		"null":                     {"null", Digest{}, Malformed},
		"none in brackets":         {"(none)", Digest{}, Malformed},
		"none of them":             {"none of them", Digest{}, Malformed},
		"raw text":                 {"the payments repository", Digest{}, Malformed},
		"invalid UTF-8":            {"sha256:" + sum[:63] + "\xff", Digest{}, Malformed},
		"zero byte":                {"sha256:" + sum[:63] + "\x00", Digest{}, Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			got, fault := Parse(c.text)
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.fault, fault)
		})
	}
}

func TestParseSumReadsValuesOnly(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want Digest
		ok   bool
	}{
		"sha256":     {" SHA256:" + sum, plain, true},
		"hmac":       {"hmac-sha256:" + sum, keyed, true},
		"of nothing": {"sha256:" + emptySHA256, Digest{Alg: SHA256, Sum: unhex(t, emptySHA256)}, true},
		"none":       {"none", Digest{}, false},
		"truncated":  {"sha256:" + sum[:62], Digest{}, false},
		"no hex":     {"sha256:" + sum[:62] + "zz", Digest{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := ParseSum(c.text)
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.ok, ok)
		})
	}
}

func TestString(t *testing.T) {
	for want, d := range map[string]Digest{
		"":                   {},
		"none":               None,
		"sha256:" + sum:      plain,
		"hmac-sha256:" + sum: keyed,
	} {
		assert.Equal(t, want, d.String())
	}
	for want, a := range map[string]Algorithm{"absent": Absent, "none": Explicit, "sha256": SHA256, "hmac-sha256": HMACSHA256} {
		assert.Equal(t, want, a.String())
	}
}

func TestNothingIsNoValue(t *testing.T) {
	for d, value := range map[Digest]bool{{}: false, None: false, plain: true, keyed: true} {
		assert.Equal(t, value, d.IsValue(), "%q", d)
		assert.Equal(t, !value, d.IsNothing(), "%q", d)
	}
}

func TestComparable(t *testing.T) {
	other := Digest{Alg: SHA256, Sum: [32]byte{1}}
	otherKeyed := Digest{Alg: HMACSHA256, Sum: [32]byte{1}}
	for name, c := range map[string]struct {
		a, b   Digest
		fa, fb Form
		want   bool
	}{
		"equal":                            {plain, plain, Form{}, Form{}, true},
		"different bytes":                  {plain, other, Form{}, Form{}, true},
		"algorithm":                        {plain, keyed, Form{}, Form{}, false},
		"algorithm, same key":              {plain, keyed, Form{KeyID: "k1"}, Form{KeyID: "k1"}, false},
		"normalizer":                       {plain, plain, Form{Normalizer: "v1"}, Form{Normalizer: "v2"}, false},
		"same normalizer":                  {plain, other, Form{Normalizer: "v2"}, Form{Normalizer: "v2"}, true},
		"absent normalizer is v1":          {plain, other, Form{}, Form{Normalizer: "v1"}, true},
		"absent normalizer is not v2":      {plain, plain, Form{Normalizer: "v2"}, Form{}, false},
		"keyed, same key":                  {keyed, otherKeyed, Form{KeyID: "k1"}, Form{KeyID: "k1"}, true},
		"keyed, other key":                 {keyed, keyed, Form{KeyID: "k1"}, Form{KeyID: "k2"}, false},
		"keyed, key on one side":           {keyed, keyed, Form{KeyID: "k1"}, Form{}, false},
		"keyed, no key named":              {keyed, otherKeyed, Form{}, Form{}, true},
		"keyed, same key, normalizer":      {keyed, keyed, Form{"v1", "k1"}, Form{"v2", "k1"}, false},
		"keyed, same key, normalizer left": {keyed, otherKeyed, Form{"v1", "k1"}, Form{"", "k1"}, true},
		"key means nothing without hmac":   {plain, plain, Form{KeyID: "k1"}, Form{KeyID: "k2"}, true},
		"none and a value":                 {None, plain, Form{}, Form{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, Comparable(c.a, c.fa, c.b, c.fb))
			assert.Equal(t, c.want, Comparable(c.b, c.fb, c.a, c.fa), "from the other side")
		})
	}
}

func TestParseAllocatesNothing(t *testing.T) {
	Parse("sha256:" + sum) // the table of placeholders is made once
	for _, text := range []string{
		"sha256:" + sum, " HMAC-SHA256:" + sum + "\n", "none", "sha256:" + emptySHA256,
		"sha256:" + sum[:63] + "g", "sha256:" + sum[:32], "some text", "",
	} {
		assert.Zero(t, testing.AllocsPerRun(100, func() { Parse(text) }), "%q", text)
	}
}

// FuzzParse: only 64 digits of hex are a value, and what is written out is read
// as the same.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "none", " NONE ", "sha256:" + sum, "hmac-sha256:" + sum, "SHA256:" + sum + "\n",
		"sha256:" + emptySHA256, sum, "sha256:" + sum[:62], "sha256:" + sum + "00", "hmac-sha256:none", "sha256:" + sum[:62] + "+/",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, fault := Parse(text)
		if fault != OK {
			require.Equal(t, Digest{}, d)
			return
		}
		again, fault := Parse(d.String())
		require.Equal(t, OK, fault)
		require.Equal(t, d, again)

		text = strings.ToLower(strings.TrimSpace(text))
		require.Equal(t, text, d.String())
		if !d.IsValue() {
			require.Equal(t, "none", text)
			return
		}
		digits, found := strings.CutPrefix(strings.TrimPrefix(text, "hmac-"), "sha256:")
		require.True(t, found)
		raw, err := hex.DecodeString(digits)
		require.NoError(t, err)
		require.Equal(t, d.Sum[:], raw)
		require.Equal(t, strings.HasPrefix(text, "hmac-"), d.Alg == HMACSHA256)
	})
}
