package lower

import (
	"fmt"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
)

func quantConv(c *call) ([]*Operand, error) {
	k, err := stepOf[*kernel.QConv](c)
	if err != nil {
		return nil, err
	}
	w, out := c.placed(quantWeight), c.result(0)
	if out.Header.Len() == 0 {
		return []*Operand{out}, nil
	}
	spatial := len(w.Shape()) - 2
	ones := slices.Repeat([]int{1}, spatial)
	q := &quant{call: c, relu: k.ReLU, max: k.Max, channel: append([]int{w.Shape()[0]}, ones...), across: append([]int{w.Shape()[0], 1}, ones...)}
	win := source.Window{Kernel: w.Shape()[2:], Stride: k.Stride, Dilation: k.Dilation, Pad: k.PadLo}.Filled(spatial)
	shape := source.Conv{Window: win, Groups: max(k.Groups, 1)}
	m, channels := w.Shape()[0]/shape.Groups, w.Shape()[1]
	const fewest = 4 // channels of a result that are worth a vector
	t := source.TileFor(c.b.info.Vector, m)
	t.Whole = true
	switch {
	case !c.b.info.Host && m >= fewest && channels > 1 && (shape.Groups == 1 || q.wordZero() == nil):
		return q.convWords(shape)
	case c.b.info.Host && m >= fewest && channels > 0 && t.Takes(count(win.Kernel)):
		x := q.frame(win, out.Shape(), array.F32)
		w := q.tiles(shape, t)
		return q.finish(&contraction{in: append([]*Operand{x}, w.in...), kernel: func(o source.View, e source.Epilogue) *source.Kernel {
			s := shape
			s.X, s.Out = x.view(), o
			return s.Tiled(t, w.Narrow, e)
		}}, q.bias(), nil, nil)
	}
	x, narrow := q.frame(win, out.Shape(), array.I16), q.less(quantWeight, q.across, array.I16)
	return q.finish(&contraction{in: []*Operand{x, narrow}, kernel: func(o source.View, e source.Epilogue) *source.Kernel {
		s := shape
		s.X, s.Out = x.view(), o
		return s.Direct(narrow.view(), e)
	}}, q.bias(), nil, nil)
}

// tiles is the weight, laid out for tiles of the convolution in bytes.
func (q *quant) tiles(shape source.Conv, t source.Tile) *narrow {
	w := q.placed(quantWeight)
	m, window := w.Shape()[0], count(w.Shape()[1:])
	n := &narrow{call: q.call, Narrow: source.Narrow{DType: w.DType()}, rows: m}
	panels := shape.Groups * t.Panels(m/shape.Groups) * t.Lanes
	n.in = []*Operand{q.b.packed(q.n, shape.PackBytes(t, w.view()), source.Dense(w.DType(), []int{panels * window}), w)}
	if zero := q.given(quantWeight+2, q.across); zero != nil {
		n.Zero = zero.view().Expand(append([]int{m}, slices.Repeat([]int{1}, len(w.Shape())-1)...))
		n.in = append(n.in, q.b.packed(q.n, shape.PackBytes(t, n.Zero), source.Dense(w.DType(), []int{panels}), zero))
	}
	return n
}

// frame is the image less its zero point, as numbers of type d, with zeros around it, as far as windows reach.
func (q *quant) frame(win source.Window, out []int, d array.DType) *Operand {
	x, zero := q.placed(quantX), q.given(quantX+2, nil)
	dims, lo, changed := reached(x.Shape(), win, out)
	if !changed {
		return q.less(quantX, nil, d)
	}
	in := []*Operand{x}
	if zero != nil {
		in = append(in, zero)
	}
	return q.shared(fmt.Sprint("frame ", d, dims, lo), in, func() *Operand {
		framed := q.b.temp(d, dims)
		q.emit(source.Frame(dims, x.view(), lo, zero != nil, d), []*Operand{framed}, in)
		return framed
	})
}

// convWords is a convolution of words of four channels, by tensor cores or in blocks of local memory.
func (q *quant) convWords(shape source.Conv) ([]*Operand, error) {
	w, out := q.placed(quantWeight), q.result(0).Shape()
	x := q.wordFrame(shape, out)
	shape.X = x.view()
	dims := slices.Clone(w.Shape())
	dims[1] = source.WordsOf(dims[1])
	ww := q.shared("channels", []*Operand{w}, func() *Operand {
		out := q.b.temp(array.I32, dims)
		q.emit(source.Words(w.view(), 1, 1, dims, make([]int, len(dims)), false), []*Operand{out}, []*Operand{w})
		return out
	})
	sums := reshaped(q.rowSums(reshaped(ww, dims[0], count(dims[1:]))), q.channel...)
	m, places := dims[0]/shape.Groups, count(out)/dims[0]
	k := &contraction{in: []*Operand{x, ww}, kernel: func(o source.View, e source.Epilogue) *source.Kernel {
		s := shape
		s.Out = o
		b := source.BlockFor(s.Groups, places, m, q.b.info.Units, q.b.info.Group)
		b.Words = true
		return s.Blocked(b, ww.view(), e)
	}}
	if q.b.byteCores(places, m, count(w.Shape()[1:])) {
		k.in[1] = q.packWords(ww)
		k.kernel = func(o source.View, e source.Epilogue) *source.Kernel {
			s := shape
			s.Out = o
			return source.WarpsFor(s.Groups, places, m, q.b.info.Units).Conv(s, k.in[1].view(), e)
		}
	}
	zero := q.wordZero()
	var rows *Operand
	if zero != nil {
		places := append([]int{out[0]}, out[2:]...)
		rows = q.b.temp(array.I32, places)
		q.emit(shape.WindowSums(places), []*Operand{rows}, []*Operand{x})
		rows = reshaped(rows, append([]int{out[0], 1}, out[2:]...)...)
	}
	return q.finish(k, q.offset(sums, count(w.Shape()[1:])), rows, zero)
}

// wordFrame lays channels of the image out in words, with its zero point around it as far as windows
// reach.
func (q *quant) wordFrame(shape source.Conv, out []int) *Operand {
	x := q.placed(quantX)
	dims, lo, _ := reached(x.Shape(), shape.Window, out)
	dims[1] = shape.Groups * source.WordsOf(dims[1]/shape.Groups)
	in := []*Operand{x}
	if zero := q.given(quantX+2, nil); zero != nil {
		in = append(in, zero)
	}
	return q.shared(fmt.Sprint("framed words ", shape.Groups, dims, lo), in, func() *Operand {
		words := q.b.temp(array.I32, dims)
		q.emit(source.Words(x.view(), 1, shape.Groups, dims, lo, len(in) > 1), []*Operand{words}, in)
		return words
	})
}
