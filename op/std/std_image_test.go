package std

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

func TestIndexing(t *testing.T) {
	checkGuarded(t, Gather, func(a any, in []*wide) []*wide {
		x, index := in[0], in[1]
		if len(x.dims) == 0 {
			return []*wide{x}
		}
		d := front(a.(DimAttrs).Dim, len(x.dims))
		return pull(index.dims, func(i []int) float64 { return x.strict(swapIn(i, d, int(index.strict(i...)))...) })
	})
	checkGuarded(t, IndexSelect, func(a any, in []*wide) []*wide {
		x, index := in[0], in[1]
		d := front(a.(DimAttrs).Dim, len(x.dims))
		return pull(swapIn(x.dims, d, len(index.v)), func(i []int) float64 { return x.strict(swapIn(i, d, int(index.v[i[d]]))...) })
	})
	scatter := func(dim int, in []*wide, combine func(old, v float64) float64) []*wide {
		x, index, src := in[0], in[1], in[2]
		out := pull(x.dims, func(i []int) float64 { return x.strict(i...) })
		d := front(dim, len(x.dims))
		for k, to := range index.v {
			i := index.index(k)
			p := out[0].flat(swapIn(i, d, int(to))...)
			out[0].v[p] = combine(out[0].v[p], src.strict(i...))
		}
		return out
	}
	combine := map[string]func(old, v float64) float64{
		"": func(_, v float64) float64 { return v }, "add": func(o, v float64) float64 { return o + v },
		"multiply": func(o, v float64) float64 { return o * v }, "amax": math.Max, "amin": math.Min,
	}
	combine["sum"], combine["prod"] = combine["add"], combine["multiply"]
	checkGuarded(t, Scatter, func(a any, in []*wide) []*wide {
		return scatter(a.(ScatterAttrs).Dim, in, combine[a.(ScatterAttrs).Reduce])
	})
	checkGuarded(t, ScatterAdd, func(a any, in []*wide) []*wide { return scatter(a.(DimAttrs).Dim, in, combine["add"]) })
	checkGuarded(t, ScatterReduce, func(a any, in []*wide) []*wide {
		return scatter(a.(ScatterReduceAttrs).Dim, in, combine[a.(ScatterReduceAttrs).Reduce])
	})
}

// TestIndexOutOfRange: index values are data, so that running refuses them.
func TestIndexOutOfRange(t *testing.T) {
	x, src := array.New(array.F32, 2, 3), array.New(array.F32, 2, 3)
	for o, index := range map[*op.Op]*array.Array{
		Gather: array.FromSlice([]int64{0, 3}, 2, 1), IndexSelect: array.FromSlice([]int64{3}), ScatterAdd: array.FromSlice([]int64{0, 9}, 2, 1),
	} {
		_, err := o.Eval(&kernel.Workspace{}, DimAttrs{1}, []*array.Array{x, index, src}[:len(o.In)])
		require.ErrorContains(t, err, "out of range", o.Name)
	}
}

// mirrored walks to i in a dimension of n elements, turning at both edges.
func mirrored(i, n int) int {
	at, step := 0, 1
	for range max(i, -i) {
		if at+step < 0 || at+step >= n {
			step = -step
		}
		at += step
	}
	return at
}

func TestPadding(t *testing.T) {
	checkGuarded(t, Pad, func(a any, in []*wide) []*wide {
		p, x := a.(PadAttrs), in[0]
		dims, lo := append([]int{}, x.dims...), make([]int, len(x.dims))
		counts, _ := p.Pad.Known()
		for k := 0; k < len(counts); k += 2 {
			d := len(dims) - 1 - k/2
			lo[d] = counts[k]
			dims[d] += lo[d] + counts[k+1]
		}
		return pull(dims, func(i []int) float64 {
			for d := range i {
				i[d] -= lo[d]
				if i[d] >= 0 && i[d] < x.dims[d] {
					continue
				}
				switch p.Mode {
				case "reflect":
					i[d] = mirrored(i[d], x.dims[d])
				case "replicate":
					i[d] = min(max(i[d], 0), x.dims[d]-1)
				case "circular":
					i[d] = (i[d] + x.dims[d]) % x.dims[d]
				default:
					return p.Value
				}
			}
			return x.strict(i...)
		})
	})
}

func TestPixels(t *testing.T) {
	// lead splits the multi-index into the part before the last three indexes and the last three.
	lead := func(i []int) (before []int, c, h, w int) {
		n := len(i)
		return i[: n-3 : n-3], i[n-3], i[n-2], i[n-1]
	}
	checkGuarded(t, PixelShuffle, func(a any, in []*wide) []*wide {
		r, x := a.(PixelShuffleAttrs).UpscaleFactor, in[0]
		b, c, h, w := lead(x.dims)
		return pull(append(b, c/r/r, h*r, w*r), func(i []int) float64 {
			b, c, h, w := lead(i)
			return x.strict(append(b, (c*r+h%r)*r+w%r, h/r, w/r)...)
		})
	})
	checkGuarded(t, PixelUnshuffle, func(a any, in []*wide) []*wide {
		r, x := a.(PixelUnshuffleAttrs).DownscaleFactor, in[0]
		b, c, h, w := lead(x.dims)
		return pull(append(b, c*r*r, h/r, w/r), func(i []int) float64 {
			b, c, h, w := lead(i)
			return x.strict(append(b, c/r/r, h*r+c/r%r, w*r+c%r)...)
		})
	})
}

// columns calls f for every element of every window: where it lies in the
// columns (row, column) and in the image.
func columns(c, h, w int, kernelSize, dilation, padding, stride op.Ints, f func(row, column, ch, y, x int)) (rows, count int) {
	k, d := mustList(kernelSize, 2, 0), mustList(dilation, 2, 1)
	p, s := mustList(padding, 2, 0), mustList(stride, 2, 1)
	for y := -p[0]; y+d[0]*(k[0]-1) < h+p[0]; y += s[0] {
		for x := -p[1]; x+d[1]*(k[1]-1) < w+p[1]; x += s[1] {
			row := 0
			for ch := range c {
				for i := range k[0] {
					for j := range k[1] {
						f(row, count, ch, y+i*d[0], x+j*d[1])
						row++
					}
				}
			}
			count++
		}
	}
	return c * k[0] * k[1], count
}

func TestWindows(t *testing.T) {
	checkGuarded(t, Unfold, func(a any, in []*wide) []*wide {
		u := a.(UnfoldAttrs)
		x, single := asBatch(in[0], 2)
		c, h, w := x.dims[1], x.dims[2], x.dims[3]
		none := func(int, int, int, int, int) {}
		rows, count := columns(c, h, w, u.KernelSize, u.Dilation, u.Padding, u.Stride, none)
		out := newWide(x.dims[0], rows, count)
		for n := range x.dims[0] {
			columns(c, h, w, u.KernelSize, u.Dilation, u.Padding, u.Stride, func(row, column, ch, y, xx int) {
				if y >= 0 && y < h && xx >= 0 && xx < w {
					out.v[out.flat(n, row, column)] = x.strict(n, ch, y, xx)
				}
			})
		}
		return dropBatch(out, single)
	})
	checkGuarded(t, Fold, func(a any, in []*wide) []*wide {
		u := a.(FoldAttrs)
		x, single := asBatch(in[0], 1)
		size, _ := u.OutputSize.Known()
		k := mustList(u.KernelSize, 2, 0)
		c, h, w := x.dims[1]/(k[0]*k[1]), size[0], size[1]
		out := newWide(x.dims[0], c, h, w)
		for n := range x.dims[0] {
			columns(c, h, w, u.KernelSize, u.Dilation, u.Padding, u.Stride, func(row, column, ch, y, xx int) {
				if y >= 0 && y < h && xx >= 0 && xx < w {
					out.v[out.flat(n, ch, y, xx)] += x.strict(n, row, column)
				}
			})
		}
		return dropBatch(out, single)
	})
}

// cubic is the convolution kernel of bicubic interpolation with a = -0.75.
func cubic(x float64) float64 {
	x = math.Abs(x)
	switch {
	case x <= 1:
		return (1.25*x-2.25)*x*x + 1
	case x < 2:
		return ((-0.75*x+3.75)*x-6)*x + 3
	}
	return 0
}

// taps returns the positions and weights that interpolate position p.
func taps(mode string, p float64) (at []int, weight []float64) {
	f := math.Floor(p)
	if mode == "bicubic" {
		for k := -1; k <= 2; k++ {
			at, weight = append(at, int(f)+k), append(weight, cubic(p-f-float64(k)))
		}
		return at, weight
	}
	return []int{int(f), int(f) + 1}, []float64{1 - (p - f), p - f}
}

func TestInterpolation(t *testing.T) {
	checkGuarded(t, Interpolate, func(a any, in []*wide) []*wide {
		r, x := a.(InterpolateAttrs), in[0]
		n := len(x.dims) - 2
		dims := append([]int{}, x.dims...)
		ratio := make([]float64, n)
		for i := range n {
			if r.Size.Len() > 0 {
				dims[2+i], _ = r.Size.At(min(i, r.Size.Len()-1)).Int()
				ratio[i] = float64(x.dims[2+i]) / float64(dims[2+i])
			} else {
				f := r.ScaleFactor.At(min(i, r.ScaleFactor.Len()-1))
				dims[2+i] = int(float64(x.dims[2+i]) * f)
				ratio[i] = 1 / f
			}
		}
		return pull(dims, func(i []int) float64 {
			// One dimension after the other, as sums over positions.
			at, weight := [][]int{i[:2]}, []float64{1}
			for d := range n {
				size, p := x.dims[2+d], (float64(i[2+d])+0.5)*ratio[d]-0.5
				var pos []int
				w := []float64{1}
				switch {
				case r.Mode == "" || r.Mode == "nearest":
					pos = []int{int(math.Floor(float64(i[2+d]) * ratio[d]))}
				case r.Mode == "nearest-exact":
					pos = []int{int(math.Floor((float64(i[2+d]) + 0.5) * ratio[d]))}
				case r.AlignCorners:
					p = 0
					if dims[2+d] > 1 {
						p = float64(i[2+d]) * float64(size-1) / float64(dims[2+d]-1)
					}
					pos, w = taps(r.Mode, p)
				default:
					if r.Mode != "bicubic" {
						p = max(p, 0)
					}
					pos, w = taps(r.Mode, p)
				}
				var at2 [][]int
				var weight2 []float64
				for j, a := range at {
					for k, p := range pos {
						at2 = append(at2, append(append([]int{}, a...), min(max(p, 0), size-1)))
						weight2 = append(weight2, weight[j]*w[k])
					}
				}
				at, weight = at2, weight2
			}
			if len(at) == 1 {
				return x.strict(at[0]...)
			}
			s := 0.0
			for j := range at {
				s += weight[j] * x.strict(at[j]...)
			}
			if r.Mode == "bilinear" && isBytes(x) {
				s = math.RoundToEven(s)
			}
			return s
		})
	})
}

// isBytes recognises the samples in u8: nothing else holds such values only.
func isBytes(x *wide) bool {
	for _, v := range x.v {
		if v != math.Trunc(v) || v < 0 {
			return false
		}
	}
	return len(x.v) > 0
}

// reflected folds p into the range between the edges lo and hi.
func reflected(p, lo, hi float64) float64 {
	if hi <= lo {
		return 0
	}
	for p < lo || p > hi {
		if p < lo {
			p = 2*lo - p
		} else {
			p = 2*hi - p
		}
	}
	return p
}

func TestGridSampling(t *testing.T) {
	checkGuarded(t, GridSample, func(a any, in []*wide) []*wide {
		s, x, grid := a.(GridSampleAttrs), in[0], in[1]
		n := len(x.dims) - 2
		// bring puts a position into range as padding asks.
		bring := func(p float64, size int) float64 {
			switch s.PaddingMode {
			case "border":
				return min(max(p, 0), float64(size-1))
			case "reflection":
				if s.AlignCorners {
					p = reflected(p, 0, float64(size-1))
				} else {
					p = reflected(p, -0.5, float64(size)-0.5)
				}
				return min(max(p, 0), float64(size-1))
			}
			return p
		}
		dims := append(append([]int{}, x.dims[:2]...), grid.dims[1:n+1]...)
		return pull(dims, func(i []int) float64 {
			at, weight := [][]int{i[:2]}, []float64{1}
			for d := range n {
				size := x.dims[2+d]
				g := grid.strict(append(append([]int{i[0]}, i[2:]...), n-1-d)...)
				p := ((g+1)*float64(size) - 1) / 2
				if s.AlignCorners {
					p = (g + 1) / 2 * float64(size-1)
				}
				var pos []int
				w := []float64{1}
				switch s.Mode {
				case "nearest":
					pos = []int{int(math.RoundToEven(bring(p, size)))}
				case "bicubic": // the taps are brought into range, not the point
					pos, w = taps(s.Mode, p)
					for k := range pos {
						pos[k] = int(bring(float64(pos[k]), size))
					}
				default:
					pos, w = taps("", bring(p, size))
				}
				var at2 [][]int
				var weight2 []float64
				for j, a := range at {
					for k, p := range pos {
						at2, weight2 = append(at2, append(append([]int{}, a...), p)), append(weight2, weight[j]*w[k])
					}
				}
				at, weight = at2, weight2
			}
			sum := 0.0
			for j, p := range at {
				inside := true
				for d := range n {
					inside = inside && p[2+d] >= 0 && p[2+d] < x.dims[2+d]
				}
				if inside {
					sum += weight[j] * x.strict(p...)
				}
			}
			return sum
		})
	})
}

// TestInterpolateValues are PyTorch's for [[1, 2], [3, 4]].
func TestInterpolateValues(t *testing.T) {
	x := array.FromSlice([]float32{1, 2, 3, 4}, 1, 1, 2, 2)
	for _, c := range []struct {
		a    InterpolateAttrs
		want []float64
	}{
		{InterpolateAttrs{ScaleFactor: op.FloatList(2)}, []float64{1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4}},
		{InterpolateAttrs{ScaleFactor: op.FloatList(2), Mode: "bilinear"},
			[]float64{1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4}},
		{InterpolateAttrs{Size: shape.ConstDims(3), Mode: "bilinear", AlignCorners: true}, []float64{1, 1.5, 2, 2, 2.5, 3, 3, 3.5, 4}},
	} {
		out, err := Interpolate.Eval(&kernel.Workspace{}, c.a, []*array.Array{x})
		require.NoError(t, err)
		for i, v := range c.want {
			require.InDelta(t, v, array.Float64At(out[0], i), 1e-6)
		}
	}
}
