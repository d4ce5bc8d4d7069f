package kernel

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// maxRank bounds the dimensions that one array may have; it is PyTorch's limit.
const maxRank = 64

// indexCode is the code of an index value that lies outside its dimension.
const indexCode diag.Code = "FX2030"

// emptyCode is the code of a reduction without identity over no elements.
const emptyCode diag.Code = "FX2031"

// operandCode is the code of operands whose layout a kernel cannot serve.
const operandCode diag.Code = "FX2032"

// badOperand panics with a diagnostic about operands that the type rule of an
// operator would have refused.
func badOperand(step, msg string) {
	panic(&diag.Error{Code: operandCode, Op: step, Msg: msg})
}

// badIndex panics because index i is not in [0, size) of dimension dim.
func badIndex(i int64, dim, size int) {
	panic(diag.New(indexCode, "index "+strconv.FormatInt(i, 10)+" is out of range for dimension "+
		strconv.Itoa(dim)+" of size "+strconv.Itoa(size)))
}

// axis returns dim counted from the front and panics when it is not one of rank.
func axis(step string, dim, rank int) int {
	d := dim
	if d < 0 {
		d += rank
	}
	if d < 0 || d >= rank {
		badOperand(step, "dimension "+strconv.Itoa(dim)+" does not exist, the operand has rank "+strconv.Itoa(rank))
	}
	return d
}

// axes marks the dimensions that dims names in set. A 0-dimensional operand
// counts as one dimension, as in PyTorch.
func axes(step string, set *[maxRank]bool, dims []int, rank int) {
	for _, d := range dims {
		set[axis(step, d, max(rank, 1))] = true
	}
}

// checkRank panics when a's rank exceeds what the fixed-size tables hold.
func checkRank(step string, a *array.Array) int {
	if a.Rank() > maxRank {
		badOperand(step, "operand has rank "+strconv.Itoa(a.Rank())+", the limit is "+strconv.Itoa(maxRank))
	}
	return a.Rank()
}

// split returns the products of the dimensions before d, of d, and after d.
func split(shape []int, d int) (outer, n, inner int) {
	outer, inner = 1, 1
	for _, s := range shape[:d] {
		outer *= s
	}
	for _, s := range shape[d+1:] {
		inner *= s
	}
	return outer, shape[d], inner
}

// prod returns the product of s.
func prod(s []int) int {
	n := 1
	for _, v := range s {
		n *= v
	}
	return n
}

// nestDepth is the most dimensions left after merging: every one holds at least
// two elements, so more of them would exceed the address space.
const nestDepth = 48

// moveNest is a copy loop nest, outermost dimension first: sizes and, for the
// destination and the source, strides in elements. Dimensions of one element
// vanish and neighbours that are one run in both operands merge.
type moveNest struct {
	n     int
	empty bool
	size  [nestDepth]int
	d, s  [nestDepth]int
}

// push adds the next inner dimension.
func (m *moveNest) push(size, d, s int) {
	if size == 1 {
		return
	}
	if size == 0 {
		m.empty = true
	}
	if m.empty {
		return
	}
	if k := m.n - 1; k >= 0 && m.d[k] == size*d && m.s[k] == size*s {
		m.size[k] *= size
		m.d[k], m.s[k] = d, s
		return
	}
	if m.n == nestDepth {
		badOperand("copy", "operand has more than "+strconv.Itoa(nestDepth)+" separate dimensions")
	}
	m.size[m.n], m.d[m.n], m.s[m.n] = size, d, s
	m.n++
}

// pushDense adds all dimensions of shape: the destination is row-major, the
// source has the given strides.
func (m *moveNest) pushDense(shape, strides []int) {
	n := prod(shape)
	for i, size := range shape {
		if size > 0 {
			n /= size
		}
		m.push(size, n, strides[i])
	}
}

// move copies elements of equal size as the nest says, from so and to do. It
// looks at the element size only, so it serves every type.
func move(w *Workspace, out *array.Array, do int, in *array.Array, so int, m *moveNest) {
	if m.empty {
		return
	}
	switch out.DType().Size() {
	case 1:
		moveSplit(w, array.Raw[uint8](out), do, array.Raw[uint8](in), so, m)
	case 2:
		moveSplit(w, array.Raw[uint16](out), do, array.Raw[uint16](in), so, m)
	case 4:
		moveSplit(w, array.Raw[uint32](out), do, array.Raw[uint32](in), so, m)
	default:
		moveSplit(w, array.Raw[uint64](out), do, array.Raw[uint64](in), so, m)
	}
}

// moveGrain is the number of elements below which a copy stays on one thread.
const moveGrain = 1 << 15

// moveJob copies a range of the outermost dimension.
type moveJob[T array.Elem] struct {
	dst, src []T
	do, so   int
	nest     *moveNest
}

// Do implements Job.
func (j *moveJob[T]) Do(lo, hi int) {
	m := *j.nest
	m.size[0] = hi - lo
	moveElems(j.dst, j.do+lo*m.d[0], j.src, j.so+lo*m.s[0], &m)
}

// moveSplit is moveElems, on several threads where it pays.
func moveSplit[T array.Elem](w *Workspace, dst []T, do int, src []T, so int, m *moveNest) {
	n := 1
	for _, size := range m.size[:m.n] {
		n *= size
	}
	if w.Threads <= 1 || n < 2*moveGrain {
		moveElems(dst, do, src, so, m)
		return
	}
	j := takeJob[moveJob[T]](w)
	nest := takeJob[moveNest](w)
	*nest = *m
	*j = moveJob[T]{dst, src, do, so, nest}
	w.Parallel(m.size[0], max(moveGrain*m.size[0]/n, 1), j)
	putJob(w, nest)
	putJob(w, j)
}

// moveElems walks the outer dimensions and copies the innermost one or two.
func moveElems[T array.Elem](dst []T, do int, src []T, so int, m *moveNest) {
	if m.empty {
		return
	}
	if m.n == 0 {
		dst[do] = src[so]
		return
	}
	in := 1
	// A row that is scattered in the source while its neighbour rows are close:
	// copy both dimensions in tiles, to use every cache line that is touched.
	tiled := m.n >= 2 && m.s[m.n-1] != 1 && m.s[m.n-2] == 1
	if tiled {
		in = 2
	}
	k := m.n - in
	var at [nestDepth]int
	for {
		if tiled {
			moveTile(dst, do, src, so, m)
		} else {
			moveRow(dst, do, m.d[k], src, so, m.s[k], m.size[k])
		}
		i := k - 1
		for ; i >= 0; i-- {
			at[i]++
			do += m.d[i]
			so += m.s[i]
			if at[i] < m.size[i] {
				break
			}
			do -= m.d[i] * m.size[i]
			so -= m.s[i] * m.size[i]
			at[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

// moveRow copies n elements between two strided runs.
func moveRow[T array.Elem](dst []T, do, ds int, src []T, so, ss, n int) {
	switch {
	case ds == 1 && ss == 1:
		copy(dst[do:do+n], src[so:so+n])
	case ds == 1 && ss == 0:
		v := src[so]
		row := dst[do : do+n]
		for i := range row {
			row[i] = v
		}
	case ds == 1:
		row := dst[do : do+n]
		for i := range row {
			row[i] = src[so]
			so += ss
		}
	default:
		for ; n > 0; n-- {
			dst[do] = src[so]
			do += ds
			so += ss
		}
	}
}

// moveTile copies the two innermost dimensions tile by tile.
func moveTile[T array.Elem](dst []T, do int, src []T, so int, m *moveNest) {
	const tile = 32
	a, b := m.n-2, m.n-1
	for i := 0; i < m.size[a]; i += tile {
		ie := min(i+tile, m.size[a])
		for j := 0; j < m.size[b]; j += tile {
			je := min(j+tile, m.size[b])
			for r := i; r < ie; r++ {
				moveRow(dst, do+r*m.d[a]+j*m.d[b], m.d[b], src, so+r*m.s[a]+j*m.s[b], m.s[b], je-j)
			}
		}
	}
}

// copyInto copies in, of any layout, to out in row-major order.
func copyInto(w *Workspace, out, in *array.Array) {
	if out.Len() != in.Len() {
		badOperand("copy", "operand and result hold different numbers of elements")
	}
	var m moveNest
	m.pushDense(in.Shape(), in.Strides())
	move(w, out, out.Offset(), in, in.Offset(), &m)
}

// rawDense returns in's elements in row-major order as T, which has the size of
// the element type: in's own memory where it lies so, else a copy in scratch.
func rawDense[T array.Elem](w *Workspace, in *array.Array) []T {
	n := in.Len()
	if n == 0 {
		return nil
	}
	raw := array.Raw[T](in)
	if in.IsContiguous() {
		return raw[in.Offset() : in.Offset()+n]
	}
	buf := Scratch[T](w, n)
	var m moveNest
	m.pushDense(in.Shape(), in.Strides())
	moveElems(buf, 0, raw, in.Offset(), &m)
	return buf
}

// rawOut returns the elements of a contiguous output as T, which has their size.
func rawOut[T array.Elem](out *array.Array) []T {
	n := out.Len()
	if n == 0 {
		return nil
	}
	return array.Raw[T](out)[out.Offset() : out.Offset()+n]
}

// denseBytes returns the scratch bytes that rawDense takes for a.
func denseBytes(a *array.Array) int {
	if a == nil || a.IsContiguous() {
		return 0
	}
	return scratchSize(a.Len(), a.DType().Size())
}

// scratchSize returns the scratch bytes that Scratch takes for n elements.
func scratchSize(n, size int) int { return (n*size + array.Align - 1) &^ (array.Align - 1) }
