package ml

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Coupling makes probabilities of classes of those of pairs: in[0] (f32 or f64) has in
// its last dimension the probabilities of the first class of each pair, of the pairs 0 1,
// 0 2, ..., 1 2 and so on; out[0] has one number for each class. It is the second method
// of Wu, Lin and Weng, "Probability estimates for multi-class classification by pairwise
// coupling", 2004, in at most 100 rounds.
//
//gofx:kernel
type Coupling struct{}

// ScratchBytes implements Scratcher.
func (Coupling) ScratchBytes(out, in []*array.Array) int {
	k := out[0].Dim(-1)
	return move.DenseBytes(in[0]) + par.ScratchSize(k*k, 8) + 2*par.ScratchSize(k, 8)
}

// Cuts implements Cutter: rows are independent.
func (Coupling) Cuts(out, in [][]int) []par.Cut { return par.Leading(len(in[0])-1, out, in) }

// Run implements Step.
func (Coupling) Run(w *par.Workspace, out, in []*array.Array) {
	defer w.Release(w.Mark())
	x, o := in[0], out[0]
	if x.Rank() == 0 || o.Rank() != x.Rank() || x.DType() != o.DType() || x.Dim(-1) != o.Dim(-1)*(o.Dim(-1)-1)/2 {
		operand.BadOperand("pairwise_coupling", "the operand is "+array.Describe(x.DType(), x.Shape())+" and the result "+array.Describe(o.DType(), o.Shape()))
	}
	k := o.Dim(-1)
	c := coupler{q: par.Scratch[float64](w, k*k), p: par.Scratch[float64](w, k), qp: par.Scratch[float64](w, k)}
	if x.DType() == array.F64 {
		couple(c, move.RawOut[float64](o), move.RawDense[float64](w, x), k)
	} else {
		couple(c, move.RawOut[float32](o), move.RawDense[float32](w, x), k)
	}
}

// coupler has the matrix Q of a row, the probabilities p and their product.
type coupler struct{ q, p, qp []float64 }

func couple[T operand.Real](c coupler, out, pairs []T, k int) {
	n := k * (k - 1) / 2
	for ; len(out) > 0; out, pairs = out[k:], pairs[n:] {
		clear(c.q)
		at := 0
		for i := range k {
			for j := i + 1; j < k; j++ {
				r := float64(pairs[at]) // of i against j
				at++
				c.q[i*k+i] += float64((1 - r) * (1 - r))
				c.q[j*k+j] += float64(r * r)
				c.q[i*k+j] = -(1 - r) * r
				c.q[j*k+i] = c.q[i*k+j]
			}
		}
		c.solve(k)
		for i, p := range c.p {
			out[i] = T(p)
		}
	}
}

// rounds bounds the iteration, which ends before where products differ by little.
const rounds = 100

// solve minimises pᵀQp over p that sum to 1.
func (c coupler) solve(k int) {
	for i := range c.p {
		c.p[i] = 1 / float64(k)
	}
	for range rounds {
		pqp, worst := 0.0, 0.0
		for i := range k {
			c.qp[i] = 0
			for j, p := range c.p {
				c.qp[i] += float64(c.q[i*k+j] * p)
			}
			pqp += float64(c.p[i] * c.qp[i])
		}
		for _, v := range c.qp {
			worst = max(worst, math.Abs(v-pqp))
		}
		if worst < 0.005/float64(k) {
			return
		}
		for i := range k {
			d := (pqp - c.qp[i]) / c.q[i*k+i]
			c.p[i] += d
			pqp = (pqp + float64(d*(float64(d*c.q[i*k+i])+2*c.qp[i]))) / (1 + d) / (1 + d)
			for j := range k {
				c.qp[j] = (c.qp[j] + float64(d*c.q[i*k+j])) / (1 + d)
				c.p[j] /= 1 + d
			}
		}
	}
}
