package gpu

import (
	"fmt"
	"slices"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
	"github.com/gofx-dev/gofx/op/expr"
)

// routine is what a library of the device's vendor may compute of two operands.
type routine interface {
	// of asks a library for it.
	of(l device.Library) (r device.Routine, name string, err error)
	// sums is the routine with sums in f32 as results, where the library can.
	sums() (routine, array.DType)
}

type product device.Product

func (p product) of(l device.Library) (device.Routine, string, error) {
	return l.Product(device.Product(p))
}

func (p product) sums() (routine, array.DType) {
	p.Sums = true
	return p, array.F32
}

type convolution device.Convolution

func (c convolution) of(l device.Library) (device.Routine, string, error) {
	return l.Convolution(device.Convolution(c))
}

// sums of halves are halves: the library rounds to the type of its operands.
func (c convolution) sums() (routine, array.DType) {
	return c, map[string]array.DType{"": array.F32, "f16": array.F16, "bf16": array.BF16}[c.Half]
}

// other is another way to do a step: by a library, and a kernel for what follows where that is
// anything.
type other struct {
	routine routine
	out     int // buffers
	a, b    int
	then    *step
}

// leastWork is how many multiplications a product has that a library is asked for: smaller
// ones take less time than it takes to launch them.
const leastWork = 1 << 21

// halfOf is how libraries' operands of a type are called, not ok where there are none.
func halfOf(d array.DType) (name string, ok bool) {
	if d == array.F32 {
		return "", true
	}
	return d.String(), isHalf(d)
}

// convolutionOf describes a convolution of two dense views for a library; nil where it takes no such.
func (b *builder) convolutionOf(out []int, win source.Window, groups int, x, w source.View) routine {
	half, ok := halfOf(x.DType)
	if !b.library || !ok || w.DType != x.DType || len(win.Kernel) != 2 || !x.IsDense() || !w.IsDense() || count(out) < leastWork/max(count(w.Shape[1:]), 1) {
		return nil
	}
	return convolution{N: x.Shape[0], C: x.Shape[1], H: x.Shape[2], W: x.Shape[3], M: w.Shape[0], KernelH: win.Kernel[0], KernelW: win.Kernel[1],
		OutH: out[2], OutW: out[3], StrideH: win.Stride[0], StrideW: win.Stride[1], DilationH: win.Dilation[0], DilationW: win.Dilation[1],
		Groups: groups, Half: half}
}

// productOf describes a product of two views for a library; nil where it takes no such.
func (b *builder) productOf(out array.DType, batch []int, av, bv source.View) routine {
	rank := len(av.Shape)
	p := product{Batch: count(batch), M: av.Shape[rank-2], K: av.Shape[rank-1], N: bv.Shape[len(bv.Shape)-1]}
	var ok, okA, okB bool
	p.Half, ok = halfOf(out)
	p.TF32 = b.tf32 && out == array.F32
	p.A, okA = matrix(av, batch)
	p.B, okB = matrix(bv, batch)
	big := p.Batch*p.M*p.N >= leastWork/max(p.K, 1)
	if !b.library || !ok || !okA || !okB || !big || av.DType != out || bv.DType != out {
		return nil
	}
	return p
}

// matrix returns how the matrices of a view lie, one of which each of a batch has.
func matrix(v source.View, batch []int) (m device.Matrix, ok bool) {
	v = v.Expand(append(slices.Clone(batch), v.Shape[len(v.Shape)-2:]...))
	rank := len(v.Shape)
	rows, columns := v.Shape[rank-2], v.Shape[rank-1]
	down, along := v.Strides[rank-2], v.Strides[rank-1]
	if rows == 1 {
		down = max(down, columns)
	}
	if columns == 1 {
		along = max(along, rows)
	}
	switch {
	case (along == 1 || columns == 1) && down >= columns:
		m = device.Matrix{Offset: v.Offset, Lead: down}
	case (down == 1 || rows == 1) && along >= rows:
		m = device.Matrix{Offset: v.Offset, Lead: along, Turned: true}
	default:
		return m, false
	}
	step := -1 // from matrix to matrix, of the dimensions so far
	for i := rank - 3; i >= 0; i-- {
		n, s := v.Shape[i], v.Strides[i]
		switch {
		case n == 1:
		case step < 0:
			m.Batch, step = s, s*n
		case s != step:
			return m, false
		default:
			step *= n
		}
	}
	return m, true
}

// offer gives the newest step another way: the product by a library, then the epilogue.
func (b *builder) offer(p *pending, out *value) {
	c := p.from
	if c.library == nil || len(b.steps) == 0 { // none where the step was refused
		return
	}
	s := &b.steps[len(b.steps)-1]
	if s.setup || s.node != c.node {
		return
	}
	o := &other{routine: c.library, out: out.buf, a: c.in[0].buf, b: c.in[1].buf}
	if c.right != nil {
		o.b = c.right.buf
	}
	if !plain(p.g, c.in[0].dtype()) || !out.view().IsDense() || len(p.in) != 1 {
		r, d := c.library.sums()
		sums := b.temp(d, p.in[p.acc].shape())
		o.routine, o.out = r, sums.buf
		in := slices.Clone(p.in)
		g := p.g
		if d != in[p.acc].dtype() {
			g = widened(g, in, p.acc, d)
		}
		in[p.acc] = sums
		views := make([]source.View, len(in))
		for i, v := range in {
			views[i] = v.view()
		}
		o.then = &step{kernel: source.Elementwise(g, out.shape(), []source.View{out.view()}, views), args: []int{out.buf}, outs: 1, node: c.node}
		for _, v := range in {
			o.then.args = append(o.then.args, v.buf)
		}
	}
	s.other = o
}

// widened is an expression that takes input acc in a narrower type.
func widened(g expr.Graph, in []*value, acc int, narrow array.DType) expr.Graph {
	eb := expr.NewBuilder()
	x := make([]expr.Value, len(in))
	for i, v := range in {
		if i == acc {
			x[i] = eb.Cast(eb.Input(i, narrow), v.dtype())
		} else {
			x[i] = eb.Input(i, v.dtype())
		}
	}
	return eb.Graph(eb.Inline(g, x)...)
}

// plain reports whether an epilogue only stores the sums, rounded to the type of the operands, which a library gives.
func plain(g expr.Graph, d array.DType) bool {
	casts := 0
	for _, n := range g.Nodes {
		if n.Code == kernel.OpCast {
			casts++
		} else if n.Code != kernel.OpInput {
			return false
		}
	}
	return len(g.Outs) == 1 && casts <= 1 && g.Nodes[g.Outs[0]].DType == d
}

// choose takes for each step that has another way the one that is faster on the device, which
// is measured once and kept in the folder.
func (p *program) choose(folder lowering.Folder) error {
	lib, ok := p.dev.dev.(device.Library)
	if !ok {
		return nil
	}
	c := &choice{p: p, lib: lib, folder: folder, known: map[string]bool{}}
	var err error
	p.build.steps, err = c.among(p.build.steps)
	return err
}

// choice is what was chosen so far, by key.
type choice struct {
	p      *program
	lib    device.Library
	folder lowering.Folder
	known  map[string]bool
}

// among returns steps, those of bodies too, done the way that is faster.
func (c *choice) among(list []step) (steps []step, err error) {
	for _, s := range list {
		if s.flow != nil {
			for i, body := range s.flow.bodies {
				if s.flow.bodies[i], err = c.among(body); err != nil {
					return nil, err
				}
			}
		}
		if s.other == nil {
			steps = append(steps, s)
			continue
		}
		o := s.other
		r, name, err := o.routine.of(c.lib)
		if err != nil { // the kernel does it
			s.other = nil
			steps = append(steps, s)
			continue
		}
		key := fmt.Sprint(name, " ", s.kernel.Name, " ", o.routine)
		if o.then != nil {
			key += " " + o.then.kernel.Name
		}
		use, known := c.known[key]
		if !known {
			if use, err = c.p.faster(&s, r, key, c.folder); err != nil {
				r.Free()
				return nil, err
			}
			c.known[key] = use
		}
		if !use {
			r.Free()
			s.other = nil
			steps = append(steps, s)
			continue
		}
		c.p.routines = append(c.p.routines, r)
		steps = append(steps, step{routine: r, library: name, args: []int{o.out, o.a, o.b}, outs: 1, node: s.node})
		if o.then != nil {
			steps = append(steps, *o.then)
		}
	}
	return steps, nil
}

// faster reports whether a library's routine, with what follows it, takes less time than the
// kernel.
func (p *program) faster(s *step, r device.Routine, key string, folder lowering.Folder) (bool, error) {
	i := p.dev.Info()
	file := lowering.Key("choice 1", i.Kind, i.Name, i.Driver, i.Arch, key)
	if known := folder.Load(file); len(known) == 1 {
		return known[0] == 1, nil
	}
	q, err := p.dev.dev.NewQueue()
	if err != nil {
		return false, err
	}
	defer q.Free()
	buffers := make([]device.Buffer, len(p.build.buffers))
	defer func() {
		for _, b := range buffers {
			if b != nil {
				b.Free()
			}
		}
	}()
	o := s.other
	used := append(slices.Clone(s.args), o.out, o.a, o.b)
	if o.then != nil {
		used = append(used, o.then.args...)
	}
	for _, k := range used {
		if buffers[k] == nil {
			if buffers[k], err = p.dev.dev.Alloc(p.build.buffers[k].bytes); err != nil {
				return false, err
			}
		}
	}
	own, err := timed(q, func() error {
		l := p.launch(s, buffers, nil)
		return q.Launch(&l)
	})
	if err != nil {
		return false, at(s, err)
	}
	theirs, err := timed(q, func() error {
		if err := r.Run(q, buffers[o.out], buffers[o.a], buffers[o.b]); err != nil || o.then == nil {
			return err
		}
		l := p.launch(o.then, buffers, nil)
		return q.Launch(&l)
	})
	if err != nil {
		return false, at(s, err)
	}
	use := p.dev.prefers(own, theirs)
	folder.Save(file, map[bool][]byte{true: {1}, false: {0}}[use])
	return use, nil
}

// timed is the least time of some rounds of a command, after one that nobody counts.
func timed(q device.Queue, command func() error) (time.Duration, error) {
	const rounds, each = 4, 5
	best := time.Duration(0)
	for round := range rounds {
		start := time.Now()
		for range each {
			if err := command(); err != nil {
				return 0, err
			}
		}
		if err := q.Finish(); err != nil {
			return 0, err
		}
		if t := time.Since(start); round == 1 || round > 1 && t < best {
			best = t
		}
	}
	return best, nil
}
