package lower

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/op/std"
)

// contract returns the result of a contraction, which waits for its epilogue, with a bias of the
// given shape added to its sums.
func (c *call) contract(k *contraction, bias *Operand, biasShape []int) []*Operand {
	h := c.result(0).Header
	w := h.DType()
	if isHalf(w) {
		w = array.F32 // sums are rounded once, with the bias
	}
	k.node = c.n
	eb := expr.NewBuilder()
	acc := eb.Input(0, w)
	p := &pending{node: c.n, from: k, acc: 0, in: []*Operand{{Header: Header(w, h.Shape()), Buf: -1}}}
	if bias != nil {
		v := &Operand{Header: array.Reshape(bias.Header, biasShape...), Buf: bias.Buf}
		p.in = append(p.in, v)
		acc = eb.Add(acc, eb.Cast(eb.Input(1, v.DType()), w))
	}
	p.g = eb.Graph(eb.Cast(acc, h.DType()))
	return []*Operand{{Header: h, todo: p}}
}

// tiles reports whether the product is computed in tiles: floats of up to 32 bits, and enough
// of them.
func tiles(d array.DType, columns, depth int) bool {
	return d.IsFloat() && d != array.F64 && columns > 1 && depth > 0
}

// tensorArch is the first architecture with the instructions that source.Warps uses.
const tensorArch = 80

// hasTensorCores reports whether the device has these instructions.
func (b *Builder) hasTensorCores() bool {
	arch, err := strconv.Atoi(strings.TrimPrefix(b.info.Arch, "sm_"))
	return err == nil && b.info.Kind == device.CUDA && arch >= tensorArch
}

// tensorCores reports whether products of type d are computed by tensor cores: floats, those of 32 bits
// only where the target allows their operands to be rounded to tf32.
func (b *Builder) tensorCores(d array.DType, rows, columns, depth int) bool {
	return (isHalf(d) || d == array.F32 && b.tf32) && b.byteCores(rows, columns, depth)
}

// byteCores reports whether products of bytes, which lie in words, are computed by tensor cores. No integers
// but these are.
func (b *Builder) byteCores(rows, columns, depth int) bool {
	return min(rows, columns, depth) >= source.TensorLeast && b.hasTensorCores()
}

func matmul(c *call) ([]*Operand, error) {
	a, b := c.placed(0), c.placed(1)
	out := c.result(0)
	if out.Header.Len() == 0 {
		return []*Operand{out}, nil
	}
	av, bv := a.view(), b.view()
	if len(av.Shape) == 1 {
		av = source.View{DType: av.DType, Shape: []int{1, av.Shape[0]}, Strides: []int{0, av.Strides[0]}, Offset: av.Offset}
	}
	if len(bv.Shape) == 1 {
		bv = source.View{DType: bv.DType, Shape: []int{bv.Shape[0], 1}, Strides: []int{bv.Strides[0], 0}, Offset: bv.Offset}
	}
	n, depth := bv.Shape[len(bv.Shape)-1], av.Shape[len(av.Shape)-1]
	vectors := len(a.Shape()) == 1 || len(b.Shape()) == 1
	m := av.Shape[len(av.Shape)-2]
	if !vectors && c.b.tensorCores(out.DType(), m, n, depth) {
		library := c.b.productOf(out.DType(), out.Shape()[:len(out.Shape())-2], av, bv)
		return c.contract(&contraction{in: []*Operand{a, b}, library: library, kernel: func(o source.View, e source.Epilogue) *source.Kernel {
			return c.warps(o.Shape).Product(o, av, bv, e)
		}}, nil, nil), nil
	}
	// A column is read once for each row: packing pays where there are some.
	if !c.b.info.Host && tiles(out.DType(), n, depth) && !vectors {
		k := c.blocked(av, bv, a, b)
		k.library = c.b.productOf(out.DType(), out.Shape()[:len(out.Shape())-2], av, bv)
		return c.contract(k, nil, nil), nil
	}
	if tiles(out.DType(), n, depth) && (m >= 4 || c.b.Buffers[b.Buf].Setup) && !vectors {
		t := source.TileFor(c.b.info.Vector, n)
		packed := c.pack(t, b, bv)
		return c.contract(&contraction{in: []*Operand{a, packed}, kernel: func(o source.View, e source.Epilogue) *source.Kernel {
			return t.Product(o, av, bv.Shape, e)
		}}, nil, nil), nil
	}
	if !vectors && out.DType().IsFloat() {
		return c.contract(&contraction{in: []*Operand{a, b}, kernel: func(o source.View, e source.Epilogue) *source.Kernel {
			return source.Dot(o, av, bv, e)
		}}, nil, nil), nil
	}
	dims := slices.Clone(out.Shape())
	if len(a.Shape()) == 1 {
		dims = slices.Insert(dims, len(dims)-map[bool]int{true: 0, false: 1}[len(b.Shape()) == 1], 1)
	}
	if len(b.Shape()) == 1 {
		dims = append(dims, 1)
	}
	eb := expr.NewBuilder()
	e := source.Epilogue{G: eb.Graph(eb.Input(0, out.DType())), In: []source.View{source.Dense(out.DType(), dims)}}
	c.emit(source.Dot(source.Dense(out.DType(), dims), av, bv, e), []*Operand{out}, []*Operand{a, b})
	return []*Operand{out}, nil
}

// blocked is the product of two operands as they lie, for devices whose groups have local memory.
func (c *call) blocked(av, bv source.View, a, b *Operand) *contraction {
	return &contraction{in: []*Operand{a, b}, kernel: func(o source.View, e source.Epilogue) *source.Kernel {
		return c.block(o.Shape).Product(o, av, bv, e)
	}}
}

// block is how a group shares the matrices of a result.
func (c *call) block(out []int) source.Block {
	rank := len(out)
	return source.BlockFor(count(out[:rank-2]), out[rank-2], out[rank-1], c.b.info.Units, c.b.info.Group)
}

// warps is how a group shares the matrices of a result on tensor cores.
func (c *call) warps(out []int) source.Warps {
	rank := len(out)
	return source.WarpsFor(count(out[:rank-2]), out[rank-2], out[rank-1], c.b.info.Units)
}

// pack returns the packed form of a right operand.
func (c *call) pack(t source.Tile, b *Operand, view source.View) *Operand {
	rank := len(view.Shape)
	batch := view.Shape[:rank-2]
	return c.b.pack(c.n, t.Pack(view), count(batch)*t.Panels(view.Shape[rank-1])*view.Shape[rank-2]*t.Lanes, b)
}

func linear(c *call) ([]*Operand, error) {
	x, w, bias := c.dense(0), c.placed(1), c.dense(2)
	features, depth := w.Shape()[0], w.Shape()[1]
	if c.result(0).Header.Len() == 0 {
		return []*Operand{c.result(0)}, nil
	}
	columns := turned(w.view())
	biasShape := []int{features}
	rows := x.Header.Len() / max(depth, 1)
	if depth == 0 {
		rows = c.result(0).Header.Len() / features
	}
	flat := source.Dense(x.DType(), []int{rows, depth})
	k := &contraction{in: []*Operand{x, w}}
	switch {
	case c.b.tensorCores(x.DType(), rows, features, depth):
		k.library = c.b.productOf(x.DType(), nil, flat, columns)
		k.kernel = func(out source.View, e source.Epilogue) *source.Kernel {
			if o, e, ok := e.Flatten(out); ok {
				return c.warps(o.Shape).Product(o, flat, columns, e)
			}
			return c.warps(out.Shape).Product(out, x.view(), columns, e)
		}
	case !c.b.info.Host && tiles(x.DType(), features, depth):
		k = c.blocked(flat, columns, x, w)
		k.library = c.b.productOf(x.DType(), nil, flat, columns)
		rows := k.kernel
		k.kernel = func(out source.View, e source.Epilogue) *source.Kernel {
			if o, e, ok := e.Flatten(out); ok {
				return rows(o, e)
			}
			return c.block(out.Shape).Product(out, x.view(), columns, e)
		}
	case tiles(x.DType(), features, depth):
		t := source.TileFor(c.b.info.Vector, features)
		packed := c.pack(t, w, columns)
		k.in[1] = packed
		k.kernel = func(out source.View, e source.Epilogue) *source.Kernel {
			if o, e, ok := e.Flatten(out); ok {
				return t.Product(o, flat, columns.Shape, e)
			}
			return t.Product(out, x.view(), columns.Shape, e)
		}
	default:
		k.kernel = func(out source.View, e source.Epilogue) *source.Kernel {
			if o, e, ok := e.Flatten(out); ok {
				return source.Dot(o, flat, columns, e)
			}
			return source.Dot(out, x.view(), columns, e)
		}
	}
	return c.contract(k, bias, biasShape), nil
}

// image returns operand 0 as a view with a batch, and whether it had none.
func (c *call) image(spatial int) (x *Operand, single bool) {
	x = c.placed(0)
	if len(x.Shape()) == spatial+1 {
		return &Operand{Header: array.Unsqueeze(x.Header, 0), Buf: x.Buf}, true
	}
	return x, false
}

func conv(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.Conv](c)
	if err != nil {
		return nil, err
	}
	w, bias := c.placed(1), c.dense(2)
	spatial := len(w.Shape()) - 2
	x, single := c.image(spatial)
	win := source.Window{Kernel: w.Shape()[2:], Stride: k.Stride, Dilation: k.Dilation, Pad: k.PadLo}.Filled(spatial)
	out := c.result(0)
	if out.Header.Len() == 0 || x.Header.Len() == 0 {
		return c.empty(out, bias, spatial)
	}
	dims := out.Shape()
	if single {
		dims = append([]int{1}, dims...)
	}
	groups := max(k.Groups, 1)
	m, places := w.Shape()[0]/groups, out.Header.Len()/w.Shape()[0]
	tensor := c.b.tensorCores(x.DType(), places, m, count(w.Shape()[1:]))
	last := tensor && !c.b.library // whose routines take images in order
	x = c.frame(x, win, dims, last && w.Shape()[1]%source.Quad(x.DType()) == 0)
	shape := source.Conv{Window: win, Groups: groups, X: x.view()}
	biasShape := append([]int{w.Shape()[0]}, slices.Repeat([]int{1}, spatial)...)
	d := &contraction{in: []*Operand{x, w}, last: last && !single}
	const fewest = 4 // channels that are worth a vector
	switch {
	case tensor:
		d.in[1], d.right = c.packWords(w), w
		d.kernel = func(o source.View, e source.Epilogue) *source.Kernel {
			s := shape
			s.Out, e = e.Batched(o, single)
			return source.WarpsFor(groups, places, m, c.b.info.Units).Conv(s, d.in[1].view(), e)
		}
		d.library = c.b.convolutionOf(dims, win, groups, x.view(), w.view())
	case out.DType() != array.F64 && m >= fewest && !c.b.info.Host:
		d.kernel = func(o source.View, e source.Epilogue) *source.Kernel {
			s := shape
			s.Out, e = e.Batched(o, single)
			return s.Blocked(source.BlockFor(groups, places, m, c.b.info.Units, c.b.info.Group), w.view(), e)
		}
		d.library = c.b.convolutionOf(dims, win, groups, x.view(), w.view())
	case out.DType() != array.F64 && m >= fewest:
		t := source.TileFor(c.b.info.Vector, m)
		d.in[1] = c.b.pack(c.n, shape.Pack(t, w.view()), groups*t.Panels(m)*count(w.Shape()[1:])*t.Lanes, w)
		d.kernel = func(o source.View, e source.Epilogue) *source.Kernel {
			s := shape
			s.Out, e = e.Batched(o, single)
			return s.Tiled(t, source.Narrow{DType: array.F32}, e)
		}
	default:
		d.kernel = func(o source.View, e source.Epilogue) *source.Kernel {
			s := shape
			s.Out, e = e.Batched(o, single)
			return s.Direct(w.view(), e)
		}
	}
	return c.contract(d, bias, biasShape), nil
}

// packWords lays weights of a convolution out for tensor cores, once where several calls have them.
func (c *call) packWords(w *Operand) *Operand {
	k, out := source.PackWords(w.view())
	return c.b.packed(c.n, k, out, w)
}

// empty is the result of a convolution of nothing: the bias, or zeros.
func (c *call) empty(out, bias *Operand, spatial int) ([]*Operand, error) {
	if out.Header.Len() == 0 {
		return []*Operand{out}, nil
	}
	if bias == nil {
		return c.one(source.Fill(out.view(), 0))
	}
	v := &Operand{Header: array.Reshape(bias.Header, append([]int{bias.Shape()[0]}, slices.Repeat([]int{1}, spatial)...)...), Buf: bias.Buf}
	return c.one(source.Copy(out.view(), v.view().Expand(out.Shape())), v)
}

// frame returns the image with zeros around it, as far as windows reach; last lays its channels side by side.
func (c *call) frame(x *Operand, win source.Window, out []int, last bool) *Operand {
	dims, lo, changed := reached(x.Shape(), win, out)
	if !changed {
		return x
	}
	framed, from := c.b.tempOf(x.DType(), dims, last), x.Header
	if last {
		order, _ := afterSpace(len(dims))
		dims, lo, from = reordered(dims, order), reordered(lo, order), array.Permute(from, order...)
	}
	c.emit(source.Pad(dims, source.Of(from), lo, "constant", 0), []*Operand{framed}, []*Operand{x})
	return framed
}

// reached are the sizes of an image with what windows reach around it, and where the image begins there; changed says that
// there is something around it.
func reached(image []int, win source.Window, out []int) (dims, lo []int, changed bool) {
	dims, lo = slices.Clone(image), make([]int, len(image))
	for i := range win.Kernel {
		n := dims[2+i] + win.Pad[i]
		reach := win.Reach(i, out[2+i])
		lo[2+i] = win.Pad[i]
		if win.Pad[i] > 0 || reach > n {
			dims[2+i], changed = max(n, reach), true
		}
	}
	return dims, lo, changed
}

func convTranspose(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.ConvTranspose](c)
	if err != nil {
		return nil, err
	}
	w, bias := c.placed(1), c.dense(2)
	spatial := len(w.Shape()) - 2
	x, single := c.image(spatial)
	win := source.Window{Kernel: w.Shape()[2:], Stride: k.Stride, Dilation: k.Dilation, Pad: k.Padding}.Filled(spatial)
	out := c.result(0)
	dims := out.Shape()
	if single {
		dims = append([]int{1}, dims...)
	}
	in := []*Operand{x, w}
	if bias != nil {
		in = append(in, bias)
	}
	if out.Header.Len() == 0 || x.Header.Len() == 0 {
		return c.empty(out, bias, spatial)
	}
	c.emit(source.Transposed(win, max(k.Groups, 1), source.Dense(out.DType(), dims), x.view(), w.view(), bias != nil), []*Operand{out}, in)
	return []*Operand{out}, nil
}

// attends takes the attention that a kernel computes without storing scores; what it refuses is
// expanded into products and a softmax: floats of 64 bits, which add up to more than registers hold,
// queries or values of no or of more than source.MostFeatures numbers, and operands of
// unknown rank, whose layout a kernel needs.
func attends(n *graph.Node, doubles bool) (bool, string) {
	if ok, why := floats(n, doubles); !ok {
		return false, why
	}
	in := n.OperandTypes()
	for _, t := range in {
		if t.DType() == array.F64 {
			return false, "there is no kernel for f64"
		}
	}
	for _, t := range in[:3] {
		if !t.Ranked() {
			return false, "the rank of an operand is not known"
		}
		if k, known := t.Dim(-1).Int(); known && (k == 0 || k > source.MostFeatures) {
			return false, "the kernel takes rows of other sizes"
		}
	}
	return true, ""
}

func attention(c *call) ([]*Operand, error) {
	attrs := c.n.Attrs().(std.AttentionAttrs)
	q, k, v, mask := c.placed(0), c.placed(1), c.placed(2), c.placed(3)
	out := c.result(0)
	if out.Header.Len() == 0 {
		return []*Operand{out}, nil
	}
	if k.Header.Len() == 0 { // no position: sums of nothing
		return c.one(source.Fill(out.view(), 0))
	}
	a := source.Attention{Out: out.view(), Q: q.view(), K: k.view(), V: v.view(), Causal: attrs.IsCausal}
	in := []*Operand{q, k, v}
	if mask != nil {
		m := mask.view()
		a.Mask = &m
		in = append(in, mask)
	}
	a.Scale = 1 / math.Sqrt(float64(q.Header.Dim(-1)))
	if attrs.Scale.Present() {
		a.Scale = attrs.Scale.Float64()
	}
	if !c.b.info.Host {
		return c.one(a.InGroup(c.b.info.Local), in...)
	}
	t := source.AttentionTile(c.b.info.Vector, v.Header.Dim(-1))
	in[1], in[2] = c.pack(t, k, a.Keys()), c.pack(t, v, a.V)
	return c.one(a.InTile(t), in...)
}
