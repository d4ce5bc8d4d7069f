package kernel

// hasCells reports whether a level has assembly for recurrent cells.
func hasCells(l cpuLevel) bool { return l >= levelAVX2 }

func lstmCell32(l cpuLevel, x, h, c, y []float32) {
	n := len(h)
	_, _, _ = x[4*n-1], c[n-1], y[n-1]
	if l == levelAVX512 {
		lstmCellAVX512(n, &x[0], n, &h[0], &c[0], &y[0])
	} else {
		lstmCellAVX2(n, &x[0], n, &h[0], &c[0], &y[0])
	}
}

func gruCell32(l cpuLevel, x, s, h, y []float32) {
	n := len(h)
	_, _, _ = x[3*n-1], s[3*n-1], y[n-1]
	if l == levelAVX512 {
		gruCellAVX512(n, &x[0], &s[0], n, &h[0], &y[0])
	} else {
		gruCellAVX2(n, &x[0], &s[0], n, &h[0], &y[0])
	}
}

// stateDots32 adds to groups of dotsGroup elements of c the products of h with rows of
// w, ldw apart. The groups follow one another from the first or, back, from the last.
func stateDots32(l cpuLevel, groups int, h, w []float32, ldw int, c []float32, back bool) {
	n, k := groups*dotsGroup, len(h)
	_, _ = w[(n-1)*ldw+k-1], c[n-1]
	at, step := 0, dotsGroup
	if back {
		at, step = n-dotsGroup, -dotsGroup
	}
	if l == levelAVX512 {
		stateDotsAVX512(groups, k, &h[0], &w[at*ldw], ldw, step*ldw, &c[at], step)
	} else {
		stateDotsAVX2(groups, k, &h[0], &w[at*ldw], ldw, step*ldw, &c[at], step)
	}
}
