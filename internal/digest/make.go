package digest

import (
	"crypto/hmac"
	"crypto/sha256"
)

// Of is the digest of canonical bytes: SHA-256, or HMAC-SHA-256 where there is a
// key.
func Of(canonical, key []byte) Digest {
	if key == nil {
		return Digest{Alg: SHA256, Sum: sha256.Sum256(canonical)}
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(canonical)
	return Digest{Alg: HMACSHA256, Sum: [32]byte(mac.Sum(nil))}
}
