package cpu

import "sync/atomic"

// Caches is the sizes, in bytes, of the caches that a core works with. Families derive
// the sizes of their blocks from it (tuning.go of each), never from a processor's name.
type Caches struct {
	Line int // bytes that memory moves at a time
	L1   int // data, of a core
	L2   int // of a core: its share where cores have one together
	L3   int // all of the last level beyond, 0 where there is none: threads share the data of a call
}

// usual is assumed where the caches cannot be detected.
var usual = Caches{Line: 64, L1: 32 << 10, L2: 1 << 20, L3: 16 << 20}

var caches atomic.Pointer[Caches]

// Cache returns the caches of this process's processor, or those that the variable
// GOFX_CACHE names. It asks once, when it is first called.
func Cache() Caches {
	if c := caches.Load(); c != nil {
		return *c
	}
	return findCaches()
}

func findCaches() Caches {
	c := pretend(DetectCaches(), environment("GOFX_CACHE"))
	caches.Store(&c)
	return c
}

// UseCaches makes the families use other caches and returns those before: for
// tests, which may change them between calls only.
func UseCaches(c Caches) (before Caches) {
	before = Cache()
	caches.Store(&c)
	return before
}

// DetectCaches asks the processor, or the system, for its caches.
func DetectCaches() Caches {
	var f found
	detectCaches(&f)
	return f.caches()
}

// found is the report of a processor or a system on its caches: the bytes of the
// data cache of each level, and the processors that share it.
type found struct {
	line    int
	size    [4]int
	sharing [4]int
}

func (f *found) add(level, size, sharing, line int) {
	if level < 1 || level > 3 || size <= 0 {
		return
	}
	f.size[level], f.sharing[level], f.line = size, max(sharing, 1), line
}

// caches returns the caches found, or the usual ones if the report is
// implausible. As many processors as share a first level are one core.
func (f *found) caches() Caches {
	c := Caches{Line: f.line, L1: f.size[1], L2: f.size[2], L3: f.size[3]}
	if c.L1 < 4<<10 || c.L1 > 1<<20 || c.L2 < c.L1 || c.L3 != 0 && c.L3 < c.L2 {
		return usual
	}
	if c.Line < 16 || c.Line > 1024 || c.Line&(c.Line-1) != 0 {
		c.Line = usual.Line
	}
	if cores := f.sharing[2] / f.sharing[1]; cores > 1 {
		c.L2 = max(c.L2/cores, c.L1)
	}
	return c
}

// pretend replaces the detected sizes by those of the variable GOFX_CACHE: the bytes
// of L1, L2 and L3, as in "32K,1M,0". It is read once; a value of another form
// changes nothing.
func pretend(c Caches, text string) Caches {
	l1, text := bytesOf(text, ',')
	l2, text := bytesOf(text, ',')
	l3, _ := bytesOf(text, 0)
	if l1 <= 0 || l2 <= 0 || l3 < 0 {
		return c
	}
	return Caches{Line: c.Line, L1: l1, L2: l2, L3: l3}
}

// bytesOf reads a number of bytes, of KiB (K) or MiB (M), up to a byte of text, or up
// to its end with 0, and returns the rest; -1 if the text does not begin with a
// number.
func bytesOf(text string, end byte) (n int, rest string) {
	i := 0
	for i < len(text) && i < 9 && text[i] >= '0' && text[i] <= '9' {
		n = 10*n + int(text[i]-'0')
		i++
	}
	unit := 1
	if i > 0 && i < len(text) {
		switch text[i] {
		case 'K':
			unit, i = 1<<10, i+1
		case 'M':
			unit, i = 1<<20, i+1
		}
	}
	if n > 1<<30/unit {
		return -1, ""
	}
	switch {
	case i == 0:
		return -1, ""
	case end == 0 && i == len(text):
		return n * unit, ""
	case end != 0 && i < len(text) && text[i] == end:
		return n * unit, text[i+1:]
	}
	return -1, ""
}
