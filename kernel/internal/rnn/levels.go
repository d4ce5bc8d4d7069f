package rnn

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
)

// hasCells reports whether a level has assembly for recurrent cells.
func hasCells(l cpu.Level) bool { return l.HasAVX2() }

func lstmCell32(l cpu.Level, x []float32, gate int, h, c, y []float32) {
	if !cpu.X86 {
		lstmCell(l, x, gate, h, c)
		copy(y, h)
		return
	}
	n := len(h)
	_, _, _ = x[3*gate+n-1], c[n-1], y[n-1]
	if l == cpu.AVX512 {
		lstmCellAVX512(n, &x[0], gate, &h[0], &c[0], &y[0])
	} else {
		lstmCellAVX2(n, &x[0], gate, &h[0], &c[0], &y[0])
	}
}

// lstmCellKept32 is lstmCell of the state c, with its results in next and y.
func lstmCellKept32(l cpu.Level, x, c, next, y []float32) {
	if !cpu.X86 {
		copy(next, c)
		lstmCell(l, x, len(y), y, next)
		return
	}
	n := len(y)
	_, _, _ = x[4*n-1], c[n-1], next[n-1]
	if l == cpu.AVX512 {
		lstmCellKeptAVX512(n, &x[0], n, &c[0], &next[0], &y[0])
	} else {
		lstmCellKeptAVX2(n, &x[0], n, &c[0], &next[0], &y[0])
	}
}

func lstmCellBack32(l cpu.Level, x, before, cells, h, c, sums []float32) {
	if !cpu.X86 {
		lstmCellBack(l, x, before, cells, h, c, sums, nil)
		return
	}
	n := len(h)
	_, _, _, _, _ = x[4*n-1], before[n-1], cells[n-1], c[n-1], sums[4*n-1]
	if l == cpu.AVX512 {
		lstmCellBackAVX512(n, &x[0], n, &before[0], &cells[0], &h[0], &c[0], &sums[0])
	} else {
		lstmCellBackAVX2(n, &x[0], n, &before[0], &cells[0], &h[0], &c[0], &sums[0])
	}
}

func gruCell32(l cpu.Level, x, s []float32, gate int, h, y []float32) {
	if !cpu.X86 {
		gruCell(l, x, s, gate, h)
		copy(y, h)
		return
	}
	n := len(h)
	_, _, _ = x[2*gate+n-1], s[2*gate+n-1], y[n-1]
	if l == cpu.AVX512 {
		gruCellAVX512(n, &x[0], &s[0], gate, &h[0], &y[0])
	} else {
		gruCellAVX2(n, &x[0], &s[0], gate, &h[0], &y[0])
	}
}

// StateDots32 adds to groups of DotsGroup elements of c the products of h with rows of
// w, ldw apart. The groups follow one another from the first or, back, from the last.
func StateDots32(l cpu.Level, groups int, h, w []float32, ldw int, c []float32, back bool) {
	n, k := groups*DotsGroup, len(h)
	if !cpu.X86 {
		for i := range c[:n] {
			c[i] += gemm.Dot(h, w[i*ldw:][:k])
		}
		return
	}
	_, _ = w[(n-1)*ldw+k-1], c[n-1]
	at, step := 0, DotsGroup
	if back {
		at, step = n-DotsGroup, -DotsGroup
	}
	if l == cpu.AVX512 {
		stateDotsAVX512(groups, k, &h[0], &w[at*ldw], ldw, step*ldw, &c[at], step)
	} else {
		stateDotsAVX2(groups, k, &h[0], &w[at*ldw], ldw, step*ldw, &c[at], step)
	}
}
