//go:build !amd64

package rnn

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
)

// Recurrent cells run in Go on these processors.

func hasCells(cpu.Level) bool { return false }

func lstmCell32(l cpu.Level, x, h, c, y []float32) {
	lstmCell(l, x, h, c)
	copy(y, h)
}

func gruCell32(l cpu.Level, x, s, h, y []float32) {
	gruCell(l, x, s, h)
	copy(y, h)
}

// StateDots32 adds to groups of DotsGroup elements of c the products of h with rows of w.
func StateDots32(_ cpu.Level, groups int, h, w []float32, ldw int, c []float32, _ bool) {
	for i := range c[:groups*DotsGroup] {
		c[i] += gemm.Dot(h, w[i*ldw:][:len(h)])
	}
}
