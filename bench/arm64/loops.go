package main

import (
	"fmt"
	"slices"
)

// loop is a kernel's innermost loop.
type loop struct {
	kernel
	words []uint32
}

// count returns how many instructions of a round are of a kind.
func (l loop) count(k kind) (n int) {
	for _, w := range l.words {
		if kindOf(w) == k {
			n++
		}
	}
	return n
}

// find returns the kernel's loop: of the innermost ones of its function that with as many instructions
// of its kind as the kernel says, or with the most; the shortest of equal ones.
func find(p *program, k kernel) (loop, error) {
	code, err := p.code(k.symbol)
	if err != nil {
		return loop{}, err
	}
	best := loop{kernel: k}
	for _, words := range innermost(code) {
		l := loop{k, words}
		n, most := l.count(k.kind), best.count(k.kind)
		if k.fits(n) && (n > most || n == most && len(words) < len(best.words)) {
			best = l
		}
	}
	if best.words == nil {
		return loop{}, fmt.Errorf("%s has no loop with the instructions that %q is about", k.symbol, k.name)
	}
	return best, nil
}

// fits reports whether a loop with n instructions of the kernel's kind may be the kernel's.
func (k kernel) fits(n int) bool { return n > 0 && (k.count == 0 || k.count == n) }

// innermost returns the loops of a function that have no loop inside: from where a jump goes back
// to, up to the jump.
func innermost(code []uint32) (loops [][]uint32) {
	type span struct{ first, last int }
	var all []span
	for i, w := range code {
		if d, ok := jump(w); ok && d < 0 && i+d >= 0 {
			all = append(all, span{i + d, i})
		}
	}
	for _, s := range all {
		inside := func(o span) bool { return o != s && o.first >= s.first && o.last <= s.last }
		if !slices.ContainsFunc(all, inside) {
			loops = append(loops, code[s.first:s.last+1])
		}
	}
	return loops
}

// jump returns how many instructions a jump within a function goes: B, B.cond, CBZ, CBNZ, TBZ and TBNZ.
func jump(w uint32) (distance int, ok bool) {
	signed := func(shift, bits int) int { return int(int32(w<<(32-shift-bits)) >> (32 - bits)) }
	switch {
	case w&0xfc000000 == 0x14000000:
		return signed(0, 26), true
	case w&0xff000010 == 0x54000000, w&0x7e000000 == 0x34000000:
		return signed(5, 19), true
	case w&0x7e000000 == 0x36000000:
		return signed(5, 14), true
	}
	return 0, false
}
