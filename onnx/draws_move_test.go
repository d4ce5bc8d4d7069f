package onnx_test

import (
	"strings"

	"github.com/gofx-dev/gofx/array"
)

func drawSlice(r *recipe) {
	x := r.floats(r.dims(r.upTo(1, 4), 1, 6)...)
	r.in(x)
	axes := r.axes(x.Rank())
	var starts, ends, steps []int
	for range axes {
		starts = append(starts, r.upTo(-8, 8))
		ends = append(ends, pick(r, r.upTo(-8, 8), 1<<31-1, -1<<31, r.upTo(-8, 8)))
		steps = append(steps, pick(r, 1, 1, 2, 3, -1, -2))
		last := len(steps) - 1
		r.drop = r.drop || steps[last] < 0 && ends[last] == 1<<31-1 // taken for the least one
	}
	if r.chance(4) {
		r.opset = 9
		r.is("starts", starts...)
		r.is("ends", ends...)
		r.is("axes", axes...)
	} else {
		r.fixed(list(starts...))
		r.fixed(list(ends...))
		r.fixed(list(axes...))
		if r.chance(2) {
			r.fixed(list(steps...))
		}
	}
	r.finish("Slice", 1)
}

func drawPad(r *recipe) {
	x := r.floats(r.dims(r.upTo(1, 4), 2, 5)...)
	r.in(x)
	mode := pick(r, "constant", "reflect", "edge", "wrap")
	r.opset = int64(pick(r, 2, 11, 13, 18, 19))
	if mode == "wrap" {
		r.opset = 19
	}
	r.s("mode", mode)
	lo := 0
	if mode == "constant" {
		lo = -1
	}
	if r.opset == 2 {
		r.is("pads", r.dims(2*x.Rank(), lo, 1)...)
		r.f("value", 0.5)
	} else if r.opset >= 18 && r.chance(2) {
		axes := r.axes(x.Rank())
		r.fixed(list(r.dims(2*len(axes), lo, 1)...))
		pick(r, func() { r.fixed(number(1.5)) }, r.absent)()
		r.fixed(list(axes...))
	} else {
		r.fixed(list(r.dims(2*x.Rank(), lo, 1)...))
		if r.chance(2) {
			r.fixed(number(1.5))
		}
	}
	r.finish("Pad", 1)
}

func drawGather(r *recipe) {
	x := r.floats(r.dims(r.upTo(1, 4), 1, 4)...)
	axis := r.upTo(0, x.Rank()-1)
	n := x.Dim(axis)
	r.in(x)
	switch r.IntN(3) {
	case 0:
		r.either(r.ints(-n, n-1, r.dims(r.upTo(0, 2), 1, 3)...))
		r.i("axis", axis-pick(r, 0, x.Rank()))
		r.finish("Gather", 1)
	case 1:
		dims := append([]int{}, x.Shape()...)
		dims[axis] = r.upTo(1, 5)
		r.either(r.ints(-n, n-1, dims...))
		r.i("axis", axis-pick(r, 0, x.Rank()))
		r.finish("GatherElements", 1)
	default:
		least := x.Dim(0)
		last := r.upTo(1, x.Rank())
		for _, d := range x.Shape()[:last] {
			least = min(least, d)
		}
		r.either(r.ints(-least, least-1, append(r.dims(r.upTo(0, 2), 1, 3), last)...))
		r.finish("GatherND", 1)
	}
}

func drawScatter(r *recipe) {
	x := r.floats(r.dims(r.upTo(1, 3), 2, 4)...)
	r.in(x)
	r.opset = int64(pick(r, 13, 16, 18))
	reduce := func() {
		if r.opset >= 18 {
			r.s("reduction", pick(r, "none", "add", "mul", "max", "min"))
		} else if r.opset == 16 {
			r.s("reduction", pick(r, "none", "add", "mul"))
		}
	}
	if r.chance(2) {
		axis := r.upTo(0, x.Rank()-1)
		n := x.Dim(axis)
		dims := append([]int{}, x.Shape()...)
		for i := range dims {
			dims[i] = r.upTo(1, dims[i])
		}
		dims[axis] = 1 // no place twice
		r.either(r.ints(-n, n-1, dims...))
		r.either(r.floats(dims...))
		r.i("axis", axis-pick(r, 0, x.Rank()))
		reduce()
		r.finish("ScatterElements", 1)
		return
	}
	last := r.upTo(1, x.Rank())
	r.either(r.ints(-2, 1, 1, last))
	r.either(r.floats(append([]int{1}, x.Shape()[last:]...)...))
	reduce()
	r.finish("ScatterND", 1)
}

func drawShapes(r *recipe) {
	dims := r.dims(r.upTo(1, 4), 1, 4)
	x := pick(r, func() *array.Array { return r.floats(dims...) }, func() *array.Array { return r.ints(-9, 9, dims...) })()
	rank := len(dims)
	op := pick(r, "Transpose", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Tile", "Expand", "Split", "Shape", "Trilu", "ReverseSequence", "Identity", "Size", "CumSum", "Concat")
	if op == "Squeeze" {
		dims[r.IntN(rank)] = 1
		x = r.floats(dims...)
	}
	if op == "Trilu" && rank < 2 {
		op = "Transpose"
	}
	if op == "ReverseSequence" && rank < 2 {
		op = "Flatten"
	}
	r.in(x)
	results := 1
	switch op {
	case "Squeeze", "Unsqueeze":
		r.ones(op, dims)
	case "Split":
		results = r.split(dims)
	case "Concat":
		r.in(x)
		r.in(x)
		r.i("axis", r.upTo(-rank, rank-1))
	default:
		r.moves(op, dims)
	}
	r.finish(op, results)
}

// ones draws operators that remove or add dimensions of size 1.
func (r *recipe) ones(op string, dims []int) {
	rank := len(dims)
	switch op {
	case "Squeeze":
		var ones []int
		for i, d := range dims {
			if d == 1 {
				ones = append(ones, i-pick(r, 0, rank))
			}
		}
		if r.opset = int64(pick(r, 11, 13)); r.chance(2) {
			break
		} else if r.opset == 11 {
			r.is("axes", ones...)
		} else {
			r.fixed(list(ones...))
		}
	case "Unsqueeze":
		axes := r.Perm(rank + 2)[:2]
		axes[0] -= pick(r, 0, rank+2)
		if r.chance(2) {
			r.opset = 11
			r.is("axes", axes...)
		} else {
			r.fixed(list(axes...))
		}
	}
}

// split draws where to split, and says into how many.
func (r *recipe) split(dims []int) int {
	rank := len(dims)
	axis := r.IntN(rank)
	r.i("axis", axis-pick(r, 0, rank))
	if r.opset = int64(pick(r, 11, 13, 18)); dims[axis] > 1 {
		parts := []int{1, dims[axis] - 1}
		if r.opset == 11 {
			r.is("split", parts...)
		} else {
			r.fixed(list(parts...))
		}
		return 2
	} else if r.opset == 18 {
		r.i("num_outputs", 1)
	}
	return 1
}

// moves draws the attributes of operators that move elements.
func (r *recipe) moves(op string, dims []int) {
	rank := len(dims)
	switch op {
	case "Transpose":
		if r.chance(4) {
			break
		}
		r.is("perm", r.Perm(rank)...)
	case "Reshape":
		to := append([]int{}, dims...)
		r.Shuffle(rank, func(i, j int) { to[i], to[j] = to[j], to[i] })
		switch r.IntN(3) {
		case 0:
			to[r.IntN(rank)] = -1
		case 1:
			to = append([]int{0}, append([]int{-1}, dims[1:]...)...)
		}
		r.fixed(list(to...))
	case "Flatten":
		r.i("axis", r.upTo(-rank, rank))
	case "Tile":
		r.fixed(list(r.dims(rank, 0, 3)...))
	case "Expand":
		to := append(r.dims(r.IntN(2), 1, 3), dims...)
		for i := range to {
			if to[i] == 1 || r.chance(3) {
				to[i] = pick(r, 1, to[i])
			}
		}
		r.fixed(list(to...))
	case "Shape":
		r.opset = 15
		r.i("start", r.upTo(-5, 4))
		if r.chance(2) {
			r.i("end", r.upTo(-5, 5))
		}
	case "Trilu":
		r.i("upper", r.IntN(2))
		r.fixed(array.Scalar(int64(r.upTo(-5, 5))))
	case "ReverseSequence":
		r.i("batch_axis", 1)
		r.i("time_axis", 0)
		r.either(r.ints(1, dims[0], dims[1]))
	case "CumSum":
		r.fixed(array.Scalar(int64(r.upTo(-rank, rank-1))))
		r.i("exclusive", r.IntN(2))
		r.i("reverse", r.IntN(2))
	}
}

func drawBlocks(r *recipe) {
	b := r.upTo(1, 3)
	h, w := r.upTo(1, 3), r.upTo(1, 3)
	if r.chance(2) {
		r.in(r.floats(1, b*b*r.upTo(1, 2), h, w))
		r.s("mode", pick(r, "DCR", "CRD"))
		r.i("blocksize", b)
		r.finish("DepthToSpace", 1)
		return
	}
	r.in(r.floats(2, r.upTo(1, 2), h*b, w*b))
	r.i("blocksize", b)
	r.finish("SpaceToDepth", 1)
}

func drawPick(r *recipe) {
	x := r.of(pick(r, array.F32, array.F32, array.I64, array.I32), -3, 3, r.dims(r.upTo(1, 3), 1, 5)...)
	op := pick(r, "ArgMax", "ArgMin", "TopK", "OneHot", "Hardmax", "NonZero")
	axis := r.upTo(-x.Rank(), x.Rank()-1)
	switch op {
	case "ArgMax", "ArgMin":
		r.in(x)
		r.i("axis", axis)
		r.i("keepdims", r.IntN(2))
		if r.chance(2) {
			r.i("select_last_index", 1)
		}
	case "TopK":
		r.in(x)
		r.fixed(list(r.upTo(1, x.Dim((axis+x.Rank())%x.Rank()))))
		r.i("axis", axis)
		r.i("largest", r.IntN(2))
		r.finish(op, 2)
		return
	case "OneHot":
		r.in(r.ints(-6, 6, r.dims(r.upTo(1, 3), 1, 3)...))
		r.fixed(list(r.upTo(1, 5)))
		r.fixed(r.floats(2))
		r.i("axis", pick(r, -1, 0, 1))
	case "Hardmax":
		r.opset = int64(pick(r, 11, 13))
		r.in(array.Cast(x, array.F32))
		r.i("axis", axis)
	case "NonZero":
		r.in(x)
	}
	r.finish(op, 1)
}

func drawEinsum(r *recipe) {
	sizes := map[byte]int{}
	letters := "abcde"
	for i := range letters {
		sizes[letters[i]] = r.upTo(1, 3)
	}
	var terms []string
	used := map[byte]bool{}
	for range r.upTo(1, 3) {
		term := ""
		var dims []int
		for _, i := range r.Perm(5)[:r.upTo(1, 3)] {
			term += string(letters[i])
			used[letters[i]] = true
			dims = append(dims, sizes[letters[i]])
		}
		if r.chance(6) { // a diagonal
			term += term[:1]
			dims = append(dims, dims[0])
		}
		r.in(r.floats(dims...))
		terms = append(terms, term)
	}
	eq := strings.Join(terms, ",")
	if r.chance(4) {
		eq = strings.Join(terms, " , ")
	}
	if !r.chance(4) {
		eq += "->"
		for _, i := range r.Perm(5) {
			if used[letters[i]] && r.chance(2) {
				eq += string(letters[i])
			}
		}
	}
	r.s("equation", eq)
	r.finish("Einsum", 1)
}
