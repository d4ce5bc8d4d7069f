package kernel

import "syscall"

// cpuLevel is what the assembly may use. Entries branch on it; tests lower it.
type cpuLevel uint8

const (
	levelGeneric cpuLevel = iota // Go alone
	levelNEON                    // arm64
	levelAVX2                    // AVX2, FMA, F16C and BMI2, saved by the system
	levelAVX512                  // also AVX-512 F, BW, DQ and VL
)

// String returns the level's name: "generic", "neon", "avx2" or "avx512".
func (l cpuLevel) String() string { return [...]string{"generic", "neon", "avx2", "avx512"}[l] }

// cpuFeatures is what this process may use of its processor.
type cpuFeatures struct {
	level cpuLevel
	vnni  bool // AVX512_VNNI
	vbmi  bool // AVX512_VBMI
	dot   bool // arm64's dot products of bytes
}

var cpu = restrict(detectCPU(), environment("GOFX_CPU"))

func environment(name string) string {
	v, _ := syscall.Getenv(name)
	return v
}

// restrict lowers what was detected to what the variable GOFX_CPU allows:
// "generic", "avx2" or "avx512". It is read once, when the program starts; a
// higher level than the processor's and an unknown word change nothing.
func restrict(f cpuFeatures, name string) cpuFeatures {
	most := levelAVX512
	switch name {
	case "generic":
		most = levelGeneric
	case "avx2":
		most = levelAVX2
	}
	if f.level > most {
		return cpuFeatures{level: most}
	}
	return f
}

// CPU names what this process uses of its processor: "generic" for Go alone, "neon",
// "avx2" or "avx512", and behind a blank the extensions that it uses beside.
func CPU() string {
	s := cpu.level.String()
	if cpu.vnni {
		s += " vnni"
	}
	if cpu.vbmi {
		s += " vbmi"
	}
	if cpu.dot {
		s += " dot"
	}
	return s
}

// assembly reports whether there is code for this processor beside Go. Where
// there never is, the linker leaves out what only such code needs.
func assembly() bool { return hasAssembly && cpu.level != levelGeneric }

func qAVX2() bool { return cpu.level >= levelAVX2 }

func qAVX512() bool { return cpu.level >= levelAVX512 }
