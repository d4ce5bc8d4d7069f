package source

import (
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op/expr"
)

// Epilogue is what a kernel does to each of its results before it is stored: an expression
// whose input Acc is what the kernel computed, and whose others are operands after the
// kernel's own, broadcast to the result.
type Epilogue struct {
	G   expr.Graph
	In  []View
	Acc int

	dims []int // of the result as G has it, where the kernel has it otherwise
}

// shaped is an epilogue without operands for a result whose sizes are changed.
func (e Epilogue) shaped(out View) Epilogue {
	if e.dims == nil {
		e.dims = out.Shape
	}
	e.In = nil
	return e
}

// operands are the views that are read.
func (e Epilogue) operands() []View {
	var v []View
	for i, x := range e.In {
		if i != e.Acc {
			v = append(v, x)
		}
	}
	return v
}

// write prints the expression of acc, a float, at coordinates of out, and the store; the
// operands are the parameters x<first> and on. The buffer of the result is y0.
func (e Epilogue) write(b *strings.Builder, tab, acc string, first int, out View, coords []string) {
	e.print(b, tab, acc, first, out, coords, nil, func(r string) string { return store(out.DType, "y0", out.at(coords), r) })
}

// print is write with another store, and with operands that read prints where it is not nil and says so.
func (e Epilogue) print(b *strings.Builder, tab, acc string, first int, out View, coords []string, read func(operand int) (string, bool), write func(r string) string) {
	name, at := make([]int, len(e.In)), first
	for i := range e.In {
		if i != e.Acc {
			name[i] = first
			first++
		}
	}
	s := scope{load: func(k int, d array.DType) string {
		if k == e.Acc {
			return round(d, acc)
		}
		if read != nil {
			if x, ok := read(name[k] - at); ok {
				return x
			}
		}
		return load(d, "x"+num(name[k]), e.In[k].Expand(out.Shape).at(coords))
	}}
	index := Dense(array.U8, out.Shape)
	s.index = func() string { return "(i64)(" + index.at(coords) + ")" }
	s.coord = func(axis int) string {
		if e.dims != nil {
			return coordinate(index.at(coords), e.dims, axis)
		}
		if axis < 0 {
			axis += len(out.Shape)
		}
		return "(i64)(" + coords[axis] + ")"
	}
	b.WriteString(tab + "{\n")
	for _, r := range body(b, e.G, "e", tab+"\t", s) {
		b.WriteString(tab + "\t" + write(r) + "\n")
	}
	b.WriteString(tab + "}\n")
}

// Flatten makes a matrix of a result, whose dimensions but the last become rows; ok is false
// where an operand does not lie so.
func (e Epilogue) Flatten(out View) (View, Epilogue, bool) {
	last := len(out.Shape) - 1
	rows := product(out.Shape[:last])
	flat := func(v View) (View, bool) {
		n := merge(v.Shape[:last], []View{{Shape: v.Shape[:last], Strides: v.Strides[:last]}})
		return View{v.DType, []int{rows, v.Shape[last]}, []int{n.strides[0][0], v.Strides[last]}, v.Offset}, len(n.dims) == 1
	}
	o, ok := flat(out)
	f := e.shaped(out)
	for _, v := range e.In {
		x, fits := flat(v.Expand(out.Shape))
		f.In, ok = append(f.In, x), ok && fits
	}
	return o, f, ok
}

// Batched gives a result without a batch one of one image.
func (e Epilogue) Batched(out View, single bool) (View, Epilogue) {
	if !single {
		return out, e
	}
	lead := func(v View) View {
		return View{v.DType, append([]int{1}, v.Shape...), append([]int{0}, v.Strides...), v.Offset}
	}
	f := e.shaped(out)
	for _, v := range e.In {
		f.In = append(f.In, lead(v.Expand(out.Shape)))
	}
	return lead(out), f
}
