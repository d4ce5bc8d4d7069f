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

// stateDots32 adds to groups of dotsGroup elements of c the products of h with rows of w,
// len(h) long. The groups follow one another from the first or, back, from the last.
func stateDots32(l cpuLevel, groups int, h, w, c []float32, back bool) {
	k := len(h)
	_, _ = w[groups*dotsGroup*k-1], c[groups*dotsGroup-1]
	at, step := 0, dotsGroup
	if back {
		at, step = (groups-1)*dotsGroup, -dotsGroup
	}
	if l == levelAVX512 {
		stateDotsAVX512(groups, k, &h[0], &w[at*k], k, step*k, &c[at], step)
	} else {
		stateDotsAVX2(groups, k, &h[0], &w[at*k], k, step*k, &c[at], step)
	}
}
