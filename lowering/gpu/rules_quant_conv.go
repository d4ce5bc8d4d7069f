package gpu

import (
	"fmt"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
)

func quantConv(c *call) ([]*value, error) {
	k, err := stepOf[*kernel.QConv](c)
	if err != nil {
		return nil, err
	}
	w, out := c.placed(quantWeight), c.result(0)
	if out.header.Len() == 0 {
		return []*value{out}, nil
	}
	spatial := len(w.shape()) - 2
	ones := slices.Repeat([]int{1}, spatial)
	q := &quant{call: c, relu: k.ReLU, max: k.Max, channel: append([]int{w.shape()[0]}, ones...), across: append([]int{w.shape()[0], 1}, ones...)}
	win := source.Window{Kernel: w.shape()[2:], Stride: k.Stride, Dilation: k.Dilation, Pad: k.PadLo}.Filled(spatial)
	shape := source.Conv{Window: win, Groups: max(k.Groups, 1)}
	m, channels := w.shape()[0]/shape.Groups, w.shape()[1]
	const fewest = 4 // channels of a result that are worth a vector
	t := source.TileFor(c.b.info.Vector, m)
	t.Whole = true
	switch {
	case !c.b.info.Host && m >= fewest && channels > 1 && (shape.Groups == 1 || q.wordZero() == nil):
		return q.convWords(shape)
	case c.b.info.Host && m >= fewest && channels > 0 && t.Takes(count(win.Kernel)):
		x := q.frame(win, out.shape(), array.F32)
		w := q.tiles(shape, t)
		return q.finish(&contraction{in: append([]*value{x}, w.in...), kernel: func(o source.View, e source.Epilogue) *source.Kernel {
			s := shape
			s.X, s.Out = x.view(), o
			return s.Tiled(t, w.Narrow, e)
		}}, q.bias(), nil, nil)
	}
	x, narrow := q.frame(win, out.shape(), array.I16), q.less(quantWeight, q.across, array.I16)
	return q.finish(&contraction{in: []*value{x, narrow}, kernel: func(o source.View, e source.Epilogue) *source.Kernel {
		s := shape
		s.X, s.Out = x.view(), o
		return s.Direct(narrow.view(), e)
	}}, q.bias(), nil, nil)
}

// tiles is the weight, laid out for tiles of the convolution in bytes.
func (q *quant) tiles(shape source.Conv, t source.Tile) *narrow {
	w := q.placed(quantWeight)
	m, window := w.shape()[0], count(w.shape()[1:])
	n := &narrow{call: q.call, Narrow: source.Narrow{DType: w.dtype()}, rows: m}
	panels := shape.Groups * t.Panels(m/shape.Groups) * t.Lanes
	n.in = []*value{q.b.packed(q.n, shape.PackBytes(t, w.view()), source.Dense(w.dtype(), []int{panels * window}), w)}
	if zero := q.given(quantWeight+2, q.across); zero != nil {
		n.Zero = zero.view().Expand(append([]int{m}, slices.Repeat([]int{1}, len(w.shape())-1)...))
		n.in = append(n.in, q.b.packed(q.n, shape.PackBytes(t, n.Zero), source.Dense(w.dtype(), []int{panels}), zero))
	}
	return n
}

// frame is the image less its zero point, as numbers of type d, with zeros around it, as far as windows reach.
func (q *quant) frame(win source.Window, out []int, d array.DType) *value {
	x, zero := q.placed(quantX), q.given(quantX+2, nil)
	dims, lo, changed := reached(x.shape(), win, out)
	if !changed {
		return q.less(quantX, nil, d)
	}
	in := []*value{x}
	if zero != nil {
		in = append(in, zero)
	}
	return q.shared(fmt.Sprint("frame ", d, dims, lo), in, func() *value {
		framed := q.b.temp(d, dims)
		q.emit(source.Frame(dims, x.view(), lo, zero != nil, d), []*value{framed}, in)
		return framed
	})
}

// convWords is a convolution of words of four channels, by tensor cores or in blocks of local memory.
func (q *quant) convWords(shape source.Conv) ([]*value, error) {
	w, out := q.placed(quantWeight), q.result(0).shape()
	x := q.wordFrame(shape, out)
	shape.X = x.view()
	dims := slices.Clone(w.shape())
	dims[1] = source.WordsOf(dims[1])
	ww := q.shared("channels", []*value{w}, func() *value {
		out := q.b.temp(array.I32, dims)
		q.emit(source.Words(w.view(), 1, 1, dims, make([]int, len(dims)), false), []*value{out}, []*value{w})
		return out
	})
	sums := reshaped(q.rowSums(reshaped(ww, dims[0], count(dims[1:]))), q.channel...)
	m, places := dims[0]/shape.Groups, count(out)/dims[0]
	k := &contraction{in: []*value{x, ww}, kernel: func(o source.View, e source.Epilogue) *source.Kernel {
		s := shape
		s.Out = o
		b := source.BlockFor(s.Groups, places, m, q.b.info.Units, q.b.info.Group)
		b.Words = true
		return s.Blocked(b, ww.view(), e)
	}}
	if q.b.byteCores(places, m, count(w.shape()[1:])) {
		k.in[1] = q.packWords(ww)
		k.kernel = func(o source.View, e source.Epilogue) *source.Kernel {
			s := shape
			s.Out = o
			return source.WarpsFor(s.Groups, places, m, q.b.info.Units).Conv(s, k.in[1].view(), e)
		}
	}
	zero := q.wordZero()
	var rows *value
	if zero != nil {
		places := append([]int{out[0]}, out[2:]...)
		rows = q.b.temp(array.I32, places)
		q.emit(shape.WindowSums(places), []*value{rows}, []*value{x})
		rows = reshaped(rows, append([]int{out[0], 1}, out[2:]...)...)
	}
	return q.finish(k, q.offset(sums, count(w.shape()[1:])), rows, zero)
}

// wordFrame lays channels of the image out in words, with its zero point around it as far as windows
// reach.
func (q *quant) wordFrame(shape source.Conv, out []int) *value {
	x := q.placed(quantX)
	dims, lo, _ := reached(x.shape(), shape.Window, out)
	dims[1] = shape.Groups * source.WordsOf(dims[1]/shape.Groups)
	in := []*value{x}
	if zero := q.given(quantX+2, nil); zero != nil {
		in = append(in, zero)
	}
	return q.shared(fmt.Sprint("framed words ", shape.Groups, dims, lo), in, func() *value {
		words := q.b.temp(array.I32, dims)
		q.emit(source.Words(x.view(), 1, shape.Groups, dims, lo, len(in) > 1), []*value{words}, in)
		return words
	})
}
