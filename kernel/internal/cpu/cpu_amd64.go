package cpu

const HasAssembly = true

// cpuid returns the registers of the CPUID instruction.
//
//go:noescape
func cpuid(leaf, sub uint32) (eax, ebx, ecx, edx uint32)

// xgetbv returns extended control register 0. It needs OSXSAVE.
//
//go:noescape
func xgetbv() (eax, edx uint32)

const (
	cpuFMA     = 1 << 12 // leaf 1, ecx
	cpuOSXSAVE = 1 << 27
	cpuAVX     = 1 << 28
	cpuF16C    = 1 << 29

	cpuAVX2     = 1 << 5 // leaf 7, ebx
	cpuBMI2     = 1 << 8
	cpuAVX512F  = 1 << 16
	cpuAVX512DQ = 1 << 17
	cpuAVX512BW = 1 << 30
	cpuAVX512VL = 1 << 31
	cpuVBMI     = 1 << 1 // leaf 7, ecx
	cpuVNNI     = 1 << 11
	cpuBF16     = 1 << 5 // leaf 7, 1, eax

	saveAVX    = 1<<1 | 1<<2                  // XCR0: xmm, ymm
	saveAVX512 = saveAVX | 1<<5 | 1<<6 | 1<<7 // opmasks, upper halves, upper sixteen
)

// Detect asks the processor for its features and the system for the registers
// that it saves when it switches threads.
func Detect() Features {
	if top, _, _, _ := cpuid(0, 0); top < 7 {
		return Features{}
	}
	_, _, c1, _ := cpuid(1, 0)
	if !has(c1, cpuOSXSAVE|cpuAVX|cpuFMA|cpuF16C) {
		return Features{}
	}
	saved, _ := xgetbv()
	subs, b7, c7, _ := cpuid(7, 0)
	if !has(saved, saveAVX) || !has(b7, cpuAVX2|cpuBMI2) {
		return Features{}
	}
	if !has(saved, saveAVX512) || !has(b7, cpuAVX512F|cpuAVX512DQ|cpuAVX512BW|cpuAVX512VL) {
		return Features{Level: AVX2}
	}
	f := Features{Level: AVX512, Vnni: has(c7, cpuVNNI), Vbmi: has(c7, cpuVBMI)}
	if subs >= 1 {
		a, _, _, _ := cpuid(7, 1)
		f.Bf16 = has(a, cpuBF16)
	}
	return f
}

func has(set, bits uint32) bool { return set&bits == bits }

// Pause waits for a moment without disturbing who shares the core.
func Pause()
