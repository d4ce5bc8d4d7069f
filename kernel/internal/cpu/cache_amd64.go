package cpu

const (
	leafIntel = 4          // the leaf of Intel's that lists caches
	leafAMD   = 0x8000001d // and AMD's, whose registers mean the same
)

// detectCaches asks the processor, without a system call.
func detectCaches(f *found) {
	if top, _, _, _ := cpuid(0, 0); top >= leafIntel {
		listCaches(f, leafIntel)
	}
	if top, _, _, _ := cpuid(0x80000000, 0); f.line == 0 && top >= leafAMD {
		listCaches(f, leafAMD)
	}
}

// listCaches adds the caches of a leaf; every processor that has the leaf lists
// some.
func listCaches(f *found, leaf uint32) {
	for i := range uint32(8) {
		a, b, c, _ := cpuid(leaf, i)
		kind, level, sharing := a&31, a>>5&7, a>>14&0xfff+1
		if kind == 0 {
			return
		}
		if kind == 2 { // instructions
			continue
		}
		ways, parts, line := b>>22+1, b>>12&0x3ff+1, b&0xfff+1
		f.add(int(level), int(ways)*int(parts)*int(line)*(int(c)+1), int(sharing), int(line))
	}
}
