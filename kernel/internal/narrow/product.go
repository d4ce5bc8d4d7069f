package narrow

import (
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// product is dst [m, n] = x [m, k] times weights that become floats on the way. Up to unpackMost rows (of bytes and 4 bits more, see
// mostByteRows and lineMost) weights are widened in registers, each time they pass; for more rows unpackCols columns at a time are widened to scratch,
// which a product reads from the second cache.
type product struct {
	m, n, k int
	ldx     int
	x, dst  []float32

	wide  []float32 // columns as floats, from first on; nil for few rows
	first int
}

// widener is a job whose Do computes columns of few rows, or makes columns from first on floats where wide is not nil.
type widener interface {
	par.Job
	// finish changes sums to results: of rows from r on, in n columns from c on.
	finish(r, rows, c, n int)
}

// finish is for weights whose sums are the results.
func (p *product) finish(r, rows, c, n int) {}

// run computes the product, with rows of x as they are: up to most of them are few.
func (p *product) run(w *par.Workspace, j widener, most int) {
	if p.m <= most {
		p.x, p.ldx = spread(w, p.x, p.m, p.k, most)
		p.few(w, j)
		return
	}
	p.panels(w, j)
}

// few computes the product of few rows, x being in its place.
func (p *product) few(w *par.Workspace, j widener) {
	w.Parallel(p.n, max(1, par.GemmWork/(p.m*p.k)), j)
}

// panels computes the product of many rows.
func (p *product) panels(w *par.Workspace, j widener) {
	p.wide = par.Scratch[float32](w, min(p.n, unpackCols)*p.k)
	for p.first = 0; p.first < p.n; p.first += unpackCols {
		cols := min(unpackCols, p.n-p.first)
		w.Parallel(cols, max(1, par.PackWork/p.k), j)
		gemm.Gemm(w, false, true, p.m, cols, p.k, p.x, p.k, p.wide[:cols*p.k], p.k, p.dst[p.first:], p.n, false)
		j.finish(0, p.m, p.first, cols)
	}
}
