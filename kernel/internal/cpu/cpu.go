package cpu

import (
	"runtime"
	"syscall"
)

// Level is the instruction set that the assembly may use. Entries branch on it; tests
// lower it.
type Level uint8

const (
	Generic Level = iota // Go alone
	NEON                 // arm64
	AVX2                 // AVX2, FMA, F16C and BMI2, saved by the system
	AVX512               // also AVX-512 F, BW, DQ and VL
	// Pairs stands for AVX512 in products of bf16 where the processor has AVX-512 BF16: a
	// word has two of them, and one instruction multiplies and adds both. It is no level of a
	// processor: Host.Level never has it.
	Pairs
)

// String returns the level's name: "generic", "neon", "avx2" or "avx512"; "bf16" of
// Pairs.
func (l Level) String() string { return [...]string{"generic", "neon", "avx2", "avx512", "bf16"}[l] }

// Features are the instructions that this process may use.
type Features struct {
	Level Level
	Vnni  bool // AVX512_VNNI
	Vbmi  bool // AVX512_VBMI
	Dot   bool // arm64's dot products of bytes
	Bf16  bool // AVX512_BF16
}

var Host = restrict(Detect(), environment("GOFX_CPU"))

func environment(name string) string {
	v, _ := syscall.Getenv(name)
	return v
}

// restrict lowers the detected level to the one in the variable GOFX_CPU:
// "generic", "avx2" or "avx512". "nobf16" leaves out the products of bf16 alone. It is
// read once, when the program starts; a higher level than the processor's and an unknown
// word change nothing.
func restrict(f Features, name string) Features {
	most := AVX512
	switch name {
	case "nobf16":
		f.Bf16 = false
	case "generic":
		most = Generic
	case "avx2":
		most = AVX2
	}
	if f.Level > most {
		return Features{Level: most}
	}
	return f
}

// CPU names the instruction sets that this process uses: "generic" for Go alone,
// "neon", "avx2" or "avx512", and after a blank the further extensions that it uses.
//
//gofx:kernel
func CPU() string {
	s := Host.Level.String()
	if Host.Vnni {
		s += " vnni"
	}
	if Host.Vbmi {
		s += " vbmi"
	}
	if Host.Dot {
		s += " dot"
	}
	if Host.Bf16 {
		s += " bf16"
	}
	return s
}

// Assembly reports whether this processor has code other than Go's. Where there
// never is any, the linker leaves out the code that only assembly needs.
func Assembly() bool { return HasAssembly && Host.Level != Generic }

// HasAVX2 reports whether AVX2 may be used.
func HasAVX2() bool { return X86 && Host.Level >= AVX2 }

// HasAVX512 reports whether AVX-512 may be used.
func HasAVX512() bool { return X86 && Host.Level >= AVX512 }

// X86 tells the compiler which levels are possible: on other processors it drops
// the code for AVX2, on these the twins of code that is called from AVX2 on.
const X86 = runtime.GOARCH == "amd64"

// ProductsOfBF16 says how this process computes products with operands in bf16: "vdpbf16ps", or
// "rounded operands, f32 arithmetic".
//
//gofx:kernel
func ProductsOfBF16() string {
	if HasPairs() {
		return "vdpbf16ps"
	}
	return "rounded operands, f32 arithmetic"
}

// HasPairs reports whether products of bf16 may use AVX-512 BF16.
func HasPairs() bool { return X86 && Host.Level >= AVX512 && Host.Bf16 }

// HasAVX2 reports whether the level has AVX2.
func (l Level) HasAVX2() bool { return X86 && l >= AVX2 }
