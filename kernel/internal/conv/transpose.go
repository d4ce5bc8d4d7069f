package conv

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// ConvTranspose is torch.nn.functional.conv_transpose1d to 3d, the gradient of
// Conv with respect to its input: in[0] [N, C, spatial...] or [C, spatial...], in[1] the weight
// [C, M/Groups, kernel...], in[2] an optional bias [M]. OutputPadding shows in
// the output's shape. Nil lists as in Conv. Float element types.
//
//gofx:kernel
type ConvTranspose struct {
	Stride, Padding, OutputPadding, Dilation []int
	Groups                                   int
}

// Run implements Step.
func (s ConvTranspose) Run(w *par.Workspace, out, in []*array.Array) {
	out, in = batched(out, in)
	if out[0].DType() == array.F64 {
		convTranspose[float64](w, s, out[0], in[0], in[1], operand.At(in, 2))
	} else {
		convTranspose[float32](w, s, out[0], in[0], in[1], operand.At(in, 2))
	}
}

// geometry is that of the convolution whose gradient this is: its input is our
// output and its output our input.
func (s ConvTranspose) geometry(out, x, weight *array.Array) geom.Spatial {
	return geom.NewSpatial(out.Shape()[2:], x.Shape()[2:], weight.Shape()[2:], s.Stride, s.Padding, s.Dilation)
}

// ScratchBytes implements Scratcher.
func (s ConvTranspose) ScratchBytes(out, in []*array.Array) int {
	out, in = batched(out, in)
	n := operand.LoadAllBytes(in) + operand.StoreBytes(out[0])
	g := s.geometry(out[0], in[0], in[1])
	if v := s.form(out[0], in[0], in[1]); out[0].DType() != array.F64 && g.Stride == [3]int{1, 1, 1} && v.fits() {
		most := s.columnBytes(out, in, &g) // without assembly
		for _, l := range gemm.ScratchLevels {
			most = max(most, v.scratch(l))
		}
		return n + most
	}
	return n + s.columnBytes(out, in, &g)
}

// form returns the convolution without its operands.
func (s ConvTranspose) form(out, x, weight *array.Array) transposed32 {
	groups := max(s.Groups, 1)
	g := s.geometry(out, x, weight)
	return transposed32{g: turned(&g), batch: x.Dim(0), groups: groups, perGroup: weight.Dim(0) / groups, outPerGroup: weight.Dim(1)}
}

// columnBytes is the scratch of products that are added where their taps belong.
func (s ConvTranspose) columnBytes(out, in []*array.Array, g *geom.Spatial) int {
	rows := in[1].Dim(1) * g.Taps
	cols := columnBlock(rows, g.OutPlane)
	k := in[1].Dim(0) / max(s.Groups, 1)
	if out[0].DType() == array.F64 {
		return gemm.Scratch[float64](rows, cols, k) + par.ScratchSize(rows*cols, 8)
	}
	most := 0
	for _, l := range gemm.ScratchLevels {
		most = max(most, par.ScratchSize(gemm.PackedRows(l, rows, k), 4))
	}
	return gemm.Scratch[float32](rows, cols, k) + par.ScratchSize(rows*cols, 4) + most
}

func columnBlock(rows, cols int) int { return min(cols, max(1, columnElems/max(rows, 1))) }

func convTranspose[T operand.Real](w *par.Workspace, s ConvTranspose, out, x, weight, bias *array.Array) {
	if out.Len() == 0 {
		return
	}
	mark := w.Mark()
	g := s.geometry(out, x, weight)
	groups := max(s.Groups, 1)
	m, k := weight.Dim(1), weight.Dim(0)/groups
	dst, src, wt := operand.Result[T](w, out), operand.Load[T](w, x), operand.Load[T](w, weight)
	b := operand.Load[T](w, bias)
	if v := s.form(out, x, weight); gemm.UsesAssembly(out.DType()) && g.Stride == [3]int{1, 1, 1} && v.fits() {
		v.dst, v.src, v.weight, v.bias = operand.AsFloat32(dst), operand.AsFloat32(src), operand.AsFloat32(wt), operand.AsFloat32(b)
		v.run(w)
		operand.Store(out, dst)
		w.Release(mark)
		return
	}
	c := columns[T]{Spatial: g, batch: x.Dim(0), groups: groups, m: m, k: k, dst: dst, src: src, weight: wt, bias: b}
	if len(src) == 0 || len(wt) == 0 {
		fillChannels(dst, b, m*groups, g.InPlane)
	} else {
		c.add(w)
	}
	operand.Store(out, dst)
	w.Release(mark)
}

// columns is a transposed convolution by products that are added where their taps belong.
type columns[T operand.Real] struct {
	geom.Spatial
	batch, groups, m, k int // channels of a group's result and input
	dst, src, weight    []T
	bias                []T // of all groups, nil for zeros
}

// add multiplies the weight, transposed, with a block of positions of the input, and adds
// each row of the products where its tap belongs. Blocks are short enough that the products
// are added while a cache holds them.
func (c *columns[T]) add(w *par.Workspace) {
	m, k, rows := c.m, c.k, c.m*c.Taps
	block := columnBlock(rows, c.OutPlane)
	cols := par.Scratch[T](w, rows*block)
	var packed []float32 // a group's weight, for all images
	if operand.IsFloat32[T]() && cpu.Assembly() {
		packed = par.Scratch[float32](w, gemm.PackedRows(cpu.Host.Level, rows, k))
	}
	for i := range c.batch * c.groups {
		group, image := i/c.batch, i%c.batch
		i = image*c.groups + group
		img := c.src[i*k*c.OutPlane : (i+1)*k*c.OutPlane]
		a := c.weight[group*k*rows : (group+1)*k*rows]
		if packed != nil && image == 0 {
			gemm.PackWhole(w, cpu.Host.Level, packed, operand.AsFloat32(a), rows, true, rows, k)
		}
		for at := 0; at < c.OutPlane; at += block {
			n := min(block, c.OutPlane-at)
			if packed != nil {
				gemm.Multiply(w, gemm.Product{M: rows, N: n, K: k, PackedA: packed, B: operand.AsFloat32(img[at:]), Ldb: c.OutPlane, C: operand.AsFloat32(cols), Ldc: n})
			} else {
				gemm.Gemm(w, true, false, rows, n, k, a, rows, img[at:], c.OutPlane, cols, n, false)
			}
			j := par.TakeJob[scatterJob[T]](w)
			*j = scatterJob[T]{Spatial: c.Spatial, dst: c.dst[i*m*c.InPlane : (i+1)*m*c.InPlane], cols: cols, at: at, n: n}
			if c.bias != nil {
				j.bias = c.bias[group*m : (group+1)*m]
			}
			j.run(w, m)
			par.PutJob(w, j)
		}
	}
}

// scatterJob adds columns [at, at+n) of a product to the output planes, of which the first columns
// find the bias.
type scatterJob[T operand.Real] struct {
	geom.Spatial
	dst, cols, bias []T
	at, n           int
	parts           int // of the rows of a channel
}

// run adds the products of so many channels. Channels are cut into parts of their rows where there
// are few.
func (j *scatterJob[T]) run(w *par.Workspace, channels int) {
	rows, work := j.In[0]*j.In[1], j.InPlane+j.n*j.Taps
	parts := w.Parts(channels*rows, rows, max(1, scatterWork*rows/work))
	j.parts = min(rows, (parts-1)/channels+1)
	w.Parallel(channels*j.parts, max(1, scatterWork*j.parts/work), j)
}

// Do computes parts [lo, hi). No two have a row.
func (j *scatterJob[T]) Do(lo, hi int) {
	rows := j.In[0] * j.In[1]
	for i := lo; i < hi; i++ {
		m, part := i/j.parts, i%j.parts
		j.rows(m, part*rows/j.parts, (part+1)*rows/j.parts)
	}
}

// rows adds to rows [from, to) of a channel. A tap's row of products is added along runs of output
// rows; taps are outside, so that each product is read in order, and the channel's plane stays in a
// cache.
func (j *scatterJob[T]) rows(m, from, to int) {
	dst := j.dst[m*j.InPlane : (m+1)*j.InPlane]
	if j.at == 0 {
		var bias []T
		if j.bias != nil {
			bias = j.bias[m : m+1]
		}
		fillChannels(dst[from*j.In[2]:to*j.In[2]], bias, 1, (to-from)*j.In[2])
	}
	for tap := range j.Taps {
		kx := tap % j.Kernel[2] * j.Dilate[2]
		ky := tap / j.Kernel[2] % j.Kernel[1] * j.Dilate[1]
		kz := tap / j.Kernel[2] / j.Kernel[1] * j.Dilate[0]
		row := j.cols[(m*j.Taps+tap)*j.n:][:j.n]
		for p := 0; p < j.n; {
			z, y, x := j.Origin(j.at + p)
			run := min(j.Out[2]-(j.at+p)%j.Out[2], j.n-p)
			z, y, x = z+kz, y+ky, x+kx
			if at := z*j.In[1] + y; uint(z) < uint(j.In[0]) && uint(y) < uint(j.In[1]) && from <= at && at < to {
				j.spread(dst[at*j.In[2]:][:j.In[2]], row[p:p+run], x)
			}
			p += run
		}
	}
}

// spread adds src to every stride-th element of dst from x on, skipping
// elements that fall outside.
func (j *scatterJob[T]) spread(dst, src []T, x int) {
	for _, v := range src {
		if uint(x) < uint(len(dst)) {
			dst[x] += v
		}
		x += j.Stride[2]
	}
}
