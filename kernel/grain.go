package kernel

// What one chunk of parallel work holds, so that handing it over, half a
// microsecond to two, is a small part of what it takes: multiplications, and
// elements that are packed or moved, in Go and where assembly does them.
const (
	gemmWork = 1 << 17
	packWork = 1 << 13
	simdWork = 1 << 18
	simdPack = 1 << 14
)
