package pool

import "github.com/gofx-dev/gofx/kernel/internal/par"

// Cuts implements Cutter. Planes are independent; windows overlap, so that these are not cut.
func (s MaxPool) Cuts(out, in [][]int) []par.Cut {
	return par.Leading(len(in[0])-len(s.Kernel), out, in)
}

// Cuts implements Cutter.
func (s AvgPool) Cuts(out, in [][]int) []par.Cut {
	return par.Leading(len(in[0])-len(s.Kernel), out, in)
}

// Cuts implements Cutter.
func (s AdaptiveAvgPool) Cuts(out, in [][]int) []par.Cut {
	return par.Leading(len(in[0])-s.Spatial, out, in)
}

// Cuts implements Cutter.
func (s AdaptiveMaxPool) Cuts(out, in [][]int) []par.Cut {
	return par.Leading(len(in[0])-s.Spatial, out, in)
}
