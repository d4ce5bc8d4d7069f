package peak

import "unsafe"

// sink keeps the compiler from dropping the pure-Go loops.
var sink [16]float32

// generic is the peak of any machine: scalar arithmetic and the runtime's own
// memory copy.
func generic() kinds {
	return kinds{
		level:  "Go",
		fma:    loop{mulAdd, 16},
		add:    loop{addGo, 8},
		div:    loop{divGo, 8},
		read:   readGo,
		copies: []stream2{copyGo},
		triads: []stream3{triadGo},
	}
}

// mulAdd does eight independent multiplications and additions a turn.
func mulAdd(n int) {
	var a, b, c, d, e, f, g, h float32
	const x = 0.999
	y := sink[0]
	for range n {
		a, b, c, d = a*x+y, b*x+y, c*x+y, d*x+y
		e, f, g, h = e*x+y, f*x+y, g*x+y, h*x+y
	}
	sink[1] = a + b + c + d + e + f + g + h
}

func addGo(n int) {
	var a, b, c, d, e, f, g, h float32
	y := sink[0]
	for range n {
		a, b, c, d = a+y, b+y, c+y, d+y
		e, f, g, h = e+y, f+y, g+y, h+y
	}
	sink[2] = a + b + c + d + e + f + g + h
}

func divGo(n int) {
	a, b, c, d, e, f, g, h := float32(1), float32(2), float32(3), float32(4), float32(5), float32(6), float32(7), float32(8)
	y := sink[0] + 1.0001
	for range n {
		a, b, c, d = a/y, b/y, c/y, d/y
		e, f, g, h = e/y, f/y, g/y, h/y
	}
	sink[3] = a + b + c + d + e + f + g + h
}

func readGo(a unsafe.Pointer, n int) {
	s := unsafe.Slice((*uint64)(a), n*32)
	var x, y, z, w uint64
	for i := 0; i+4 <= len(s); i += 4 {
		x, y, z, w = x|s[i], y|s[i+1], z|s[i+2], w|s[i+3]
	}
	sink[4] = float32(x | y | z | w)
}

func copyGo(dst, a unsafe.Pointer, n int) {
	copy(unsafe.Slice((*byte)(dst), n*256), unsafe.Slice((*byte)(a), n*256))
}

func triadGo(dst, a, b unsafe.Pointer, n int) {
	d, x, y := unsafe.Slice((*float32)(dst), n*64), unsafe.Slice((*float32)(a), n*64), unsafe.Slice((*float32)(b), n*64)
	for i := range d {
		d[i] = x[i] + y[i]
	}
}
