package cpu

// littleEndian reads and writes integers; the compiler makes single loads and
// stores of the bytes. It stands for that of encoding/binary, a package whose
// reflection small programs would link.
type littleEndian struct{}

var LittleEndian littleEndian

// Uint64 returns the integer in the first eight bytes of b.
func (littleEndian) Uint64(b []byte) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// PutUint64 writes v to the first eight bytes of b.
func (littleEndian) PutUint64(b []byte, v uint64) {
	_ = b[7]
	b[0], b[1], b[2], b[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
	b[4], b[5], b[6], b[7] = byte(v>>32), byte(v>>40), byte(v>>48), byte(v>>56)
}
