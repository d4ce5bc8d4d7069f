package par

// What one chunk of parallel work holds, so that handing it over, half a
// microsecond to two, is a small part of what it takes: multiplications, and
// elements that are packed or moved, in Go and where assembly does them.
const (
	GemmWork = 1 << 17
	PackWork = 1 << 13
	SimdWork = 1 << 18
	SimdPack = 1 << 14
)
