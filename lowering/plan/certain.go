package plan

import (
	"slices"

	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/shape"
)

// certain tells of each step whether it is a kernel that takes all operands of the right types:
// nothing that it is given makes a run fail that has come there. Kernels that look at indices
// are certain where the run has looked at these before, or found them itself.
func (p *Plan) certain() []bool {
	c := certainty{p: p, maker: make([]int, len(p.Buffers)), read: map[int][]shape.Dim{}}
	for i := range c.maker {
		c.maker[i] = -1
	}
	list := make([]bool, len(p.Steps))
	for s := range p.Steps {
		list[s] = c.step(&p.Steps[s])
		for _, k := range p.Steps[s].Out {
			if k >= 0 {
				c.maker[k] = s
			}
		}
	}
	return list
}

// certainty is what is known of the steps so far.
type certainty struct {
	p     *Plan
	maker []int               // of each buffer, -1 for none
	read  map[int][]shape.Dim // by buffer with indices: of how many places all of them are
}

func (c *certainty) step(s *Step) bool {
	if s.View || s.Joined {
		return true
	}
	switch k := s.Kernel.(type) {
	case *kernel.Copy, *kernel.Elementwise, *kernel.ElementwiseReduce, *kernel.ElementwiseRows, *kernel.Reduce, *kernel.Full, *kernel.Scan, *kernel.Var,
		*kernel.MatMul, *kernel.Linear, *kernel.PackLinear, *kernel.LinearPacked, *kernel.Int4Linear, *kernel.Int8Linear, *kernel.BlockLinear, *kernel.BlockLinearDynamic, *kernel.Attention, *kernel.BlockAttention, *kernel.BlockQuantize,
		*kernel.LinearFused, *kernel.Conv, *kernel.PackConv, *kernel.ConvPacked, *kernel.ConvFused,
		*kernel.ConvTranspose, *kernel.ConvTransposeFused, *kernel.ConvWeightGrad,
		*kernel.LSTM, *kernel.GRU, *kernel.RNN, *kernel.LSTMLayer, *kernel.LSTMLayerGrad,
		*kernel.Softmax, *kernel.LogSoftmax, *kernel.LayerNorm, *kernel.RMSNorm, *kernel.GroupNorm, *kernel.BatchNorm, *kernel.BatchNormStats,
		*kernel.Reshape, *kernel.Permute, *kernel.Expand, *kernel.Concat, *kernel.Flip, *kernel.Tile, *kernel.Pad,
		*kernel.Slice, *kernel.SliceScatter:
		return true
	case *kernel.MaxPool:
		return c.p.filled(s.In[0])
	case kernel.Indexer:
		return c.indexed(s, k)
	}
	return false
}

// indexed reports whether the indices that a step reads are known to be places: a step before it
// has read all of them as places of a dimension of the same size, they say where a pool found
// its maxima, or they are constants.
func (c *certainty) indexed(s *Step, k kernel.Indexer) bool {
	i, of, dim := k.Indexes()
	if max(i, of) >= len(s.In) || s.In[i] < 0 || s.In[of] < 0 {
		return false
	}
	t := c.p.Buffers[s.In[of]].Type
	if dim < 0 {
		dim += t.Rank()
	}
	if dim < 0 || dim >= t.Rank() {
		return false
	}
	size, from := t.Dim(dim), c.unmoved(s.In[i], true)
	if b := &c.p.Buffers[from]; b.Kind == Weight { // which may have been written since it was read
		n, known := size.Int()
		return b.Below > 0 && known && b.Below <= n
	}
	if all := c.unmoved(s.In[i], false); all == from {
		defer func() { c.read[all] = append(c.read[all], size) }()
	}
	if slices.ContainsFunc(c.read[from], size.Equal) {
		return true
	}
	if c.maker[from] < 0 {
		return false
	}
	pool := &c.p.Steps[c.maker[from]]
	m, is := pool.Kernel.(*kernel.MaxPool)
	return is && len(pool.Out) == 2 && pool.Out[1] == from && c.p.finds(pool, m, size)
}

// unmoved returns the buffer with the same values that buffer k was copied or laid out of, perhaps
// several times each where repeated is set.
func (c *certainty) unmoved(k int, repeated bool) int {
	for c.maker[k] >= 0 {
		s := &c.p.Steps[c.maker[k]]
		switch s.Kernel.(type) {
		case *kernel.Copy, *kernel.Reshape, *kernel.Permute:
		case *kernel.Expand:
			if !repeated {
				return k
			}
		default:
			return k
		}
		k = s.In[0]
	}
	return k
}

// filled reports whether a value is known to have elements: pools refuse others.
func (p *Plan) filled(k int) bool {
	n, known := p.Buffers[k].Type.Dims().Prod().Int()
	return known && n > 0
}

// finds reports whether each window of a pool has an element of its operand, so that what the pool
// says about maxima are places of a plane of so many elements.
func (p *Plan) finds(s *Step, k *kernel.MaxPool, size shape.Dim) bool {
	in, out := p.Buffers[s.In[0]].Type, p.Buffers[s.Out[0]].Type
	lead := in.Rank() - len(k.Kernel)
	if !in.Dims().Sub(lead, in.Rank()).Prod().Equal(size) || slices.ContainsFunc(k.Dilation, func(d int) bool { return d != 1 }) {
		return false
	}
	at := func(list []int, i, other int) int {
		if i < len(list) {
			return list[i]
		}
		return other
	}
	for i, window := range k.Kernel {
		n, known := in.Dim(lead + i).Int()
		windows, sized := out.Dim(lead + i).Int()
		lo := at(k.PadLo, i, 0)
		if !known || !sized || lo >= window || (windows-1)*at(k.Stride, i, window)-lo >= n {
			return false
		}
	}
	return true
}

// refusing returns the first step from which on all steps are certain.
func (p *Plan) refusing() int {
	certain, s := p.certain(), len(p.Steps)
	for s > 0 && certain[s-1] {
		s--
	}
	return s
}

// Settled returns the first step after which a run is not stopped: none after it can fail, and
// it is the first that writes state, if none before does. So a run writes all of the state or
// nothing.
func (p *Plan) Settled() int {
	if !slices.ContainsFunc(p.Steps, p.updates) {
		return len(p.Steps)
	}
	s := p.refusing()
	if slices.ContainsFunc(p.Steps[:s], p.updates) {
		return s
	}
	for s < len(p.Steps) && !p.updates(p.Steps[s]) {
		s++
	}
	return s
}

// updates reports whether a step, or a body of it, writes a tensor of the state, or an input that becomes a result.
func (p *Plan) updates(s Step) bool {
	return slices.ContainsFunc(s.Out, func(k int) bool { return k >= 0 && p.Buffers[k].lasts() }) ||
		slices.ContainsFunc(s.Regions, func(r *Plan) bool { return len(r.Written()) > 0 })
}
