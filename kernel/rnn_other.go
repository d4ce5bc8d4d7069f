//go:build !amd64

package kernel

// Recurrent cells run in Go on these processors.

func hasCells(cpuLevel) bool { return false }

func lstmCell32(l cpuLevel, x, h, c, y []float32) {
	lstmCell(l, x, h, c)
	copy(y, h)
}

func gruCell32(l cpuLevel, x, s, h, y []float32) {
	gruCell(l, x, s, h)
	copy(y, h)
}

func stateDots32(_ cpuLevel, groups int, h, w []float32, ldw int, c []float32, _ bool) {
	for i := range c[:groups*dotsGroup] {
		c[i] += dot(h, w[i*ldw:][:len(h)])
	}
}
