package peak

import (
	"os"
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:noescape
func fma512(n int)

//go:noescape
func fma256(n int)

//go:noescape
func vnni512(n int)

//go:noescape
func maddubs256(n int)

//go:noescape
func add512(n int)

//go:noescape
func add256(n int)

//go:noescape
func div512(n int)

//go:noescape
func div256(n int)

//go:noescape
func read512(a unsafe.Pointer, n int)

//go:noescape
func read256(a unsafe.Pointer, n int)

//go:noescape
func copy512(dst unsafe.Pointer, a unsafe.Pointer, n int)

//go:noescape
func copy256(dst unsafe.Pointer, a unsafe.Pointer, n int)

//go:noescape
func copynt512(dst unsafe.Pointer, a unsafe.Pointer, n int)

//go:noescape
func copynt256(dst unsafe.Pointer, a unsafe.Pointer, n int)

//go:noescape
func triad512(dst unsafe.Pointer, a unsafe.Pointer, b unsafe.Pointer, n int)

//go:noescape
func triad256(dst unsafe.Pointer, a unsafe.Pointer, b unsafe.Pointer, n int)

//go:noescape
func triadnt512(dst unsafe.Pointer, a unsafe.Pointer, b unsafe.Pointer, n int)

//go:noescape
func triadnt256(dst unsafe.Pointer, a unsafe.Pointer, b unsafe.Pointer, n int)

// held tells that gofx is to use no more than AVX2.
var held = os.Getenv("GOFX_CPU") == "avx2"

// loops lists the loops that this processor and operating system can run, the widest form of
// each kind that GOFX_CPU leaves. x/sys/cpu has checked that the system saves the registers.
func loops() kinds {
	x := &cpu.X86
	switch {
	case !held && x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL:
		k := kinds{
			level:  "AVX-512",
			fma:    loop{fma512, 768},
			add:    loop{add512, 384},
			div:    loop{div512, 256},
			read:   read512,
			copies: []stream2{copy512, copynt512},
			triads: []stream3{triad512, triadnt512},
		}
		if x.HasAVX512VNNI {
			k.int8 = loop{vnni512, 3072}
		} else if x.HasAVX2 {
			k.int8 = loop{maddubs256, 384}
		}
		return k
	case x.HasAVX2 && x.HasFMA:
		return kinds{
			level:  "AVX2",
			fma:    loop{fma256, 224},
			int8:   loop{maddubs256, 384},
			add:    loop{add256, 112},
			div:    loop{div256, 96},
			read:   read256,
			copies: []stream2{copy256, copynt256},
			triads: []stream3{triad256, triadnt256},
		}
	}
	return generic()
}
