package kernel

import "github.com/gofx-dev/gofx/array"

// Split cuts in[0] along Dim into len(out) pieces; each output's shape says how
// much it takes. Unbind drops Dim: every output takes one index.
type Split struct {
	Dim    int
	Unbind bool
}

// Run implements Step.
func (s Split) Run(w *Workspace, out, in []*array.Array) {
	d := axis("split", s.Dim, checkRank("split", in[0]))
	at := 0
	for _, o := range out {
		var v view
		v.of("split", in[0])
		n := 1
		if !s.Unbind {
			n = o.Dim(d)
		}
		if n > v.shape[d]-at {
			badOperand("split", "the results hold more elements than the operand")
		}
		v.off += at * v.strides[d]
		v.shape[d] = n
		if s.Unbind {
			v.drop(d)
		}
		v.copyTo(w, o, in[0])
		at += n
	}
}
