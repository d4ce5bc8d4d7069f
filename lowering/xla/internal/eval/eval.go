package eval

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
)

// tensor holds elements by their bits: floats at the width of their type, integers extended to 64.
type tensor struct {
	t stablehlo.Type
	v []uint64
}

func newTensor(t stablehlo.Type) tensor { return tensor{t, make([]uint64, t.Len())} }

// Run computes what the program returns for inputs, which are read only. It is an error
// when the program does not verify, or inputs are not those of main.
func Run(ctx context.Context, p *stablehlo.Module, in []*array.Array) (out []*array.Array, err error) {
	if err := stablehlo.Verify(p); err != nil {
		return nil, err
	}
	if len(in) != len(p.Main.Args) {
		return nil, fmt.Errorf("%d inputs, main takes %d", len(in), len(p.Main.Args))
	}
	if p.Sized() {
		if p, err = p.Bind(scalars(in)); err != nil {
			return nil, err
		}
	}
	m := &machine{ctx: ctx, env: map[*stablehlo.Value]tensor{}}
	args := make([]tensor, len(in))
	for i, a := range in {
		if got := stablehlo.Of(a.DType(), a.Shape()...); !got.Equal(p.Main.Args[i].Type) {
			return nil, fmt.Errorf("input %d is %s, main takes %s", i, got, p.Main.Args[i].Type)
		}
		args[i] = load(a)
	}
	res, err := m.region(p.Main, args)
	for _, t := range res {
		out = append(out, store(t))
	}
	return out, err
}

// scalars are the inputs of i32 that may be sizes, by their place.
func scalars(in []*array.Array) map[int]int {
	list := map[int]int{}
	for i, a := range in {
		if a.DType() == array.I32 && a.Rank() == 0 {
			list[i] = int(array.Int64At(a, 0))
		}
	}
	return list
}

type machine struct {
	ctx context.Context
	env map[*stablehlo.Value]tensor
}

// region runs a region on its arguments. Values from around it are in env.
func (m *machine) region(r *stablehlo.Region, args []tensor) ([]tensor, error) {
	for i, a := range r.Args {
		m.env[a] = args[i]
	}
	for _, o := range r.Ops {
		in := make([]tensor, len(o.Operands))
		for i, v := range o.Operands {
			in[i] = m.env[v]
		}
		if o.Name == "return" {
			return in, nil
		}
		if err := m.ctx.Err(); err != nil {
			return nil, err
		}
		f, ok := functions[o.Name]
		if !ok {
			return nil, errors.New("stablehlo." + o.Name + " cannot be evaluated")
		}
		out, err := f(m, o, in)
		if err != nil {
			return nil, err
		}
		for i, v := range o.Results {
			m.env[v] = out[i]
		}
	}
	return nil, errors.New("a region without a return")
}

type function func(m *machine, o *stablehlo.Op, in []tensor) ([]tensor, error)

var functions map[string]function

func init() {
	functions = map[string]function{
		"constant": one(constant), "iota": one(iota), "convert": one(convert), "bitcast_convert": one(bitcast),
		"compare": one(compare), "select": one(choose), "is_finite": one(finite),
		"broadcast_in_dim": one(broadcast), "reshape": one(reshape), "transpose": one(transpose), "reverse": one(reverse),
		"slice": one(slice), "dynamic_slice": one(dynamicSlice), "dynamic_update_slice": one(updateSlice),
		"concatenate": one(concatenate), "pad": one(pad), "gather": one(gather), "scatter": scatter,
		"dot_general": one(dot), "convolution": one(convolution), "reduce": reduce, "reduce_window": reduceWindow,
		"custom_call": one(same), "optimization_barrier": one(same), // a layout and a barrier change no value
		"sort": sort, "while": while, "if": branch,
	}
	for name, f := range unary {
		functions[name] = one(func(o *stablehlo.Op, in []tensor) tensor {
			out := newTensor(o.Results[0].Type)
			for i, x := range in[0].v {
				out.v[i] = f(out.t.Elem, x)
			}
			return out
		})
	}
	for name, f := range binary {
		functions[name] = one(func(o *stablehlo.Op, in []tensor) tensor {
			out := newTensor(o.Results[0].Type)
			for i, x := range in[0].v {
				out.v[i] = f(out.t.Elem, x, in[1].v[i])
			}
			return out
		})
	}
}

func same(_ *stablehlo.Op, in []tensor) tensor { return in[0] }

// one makes a function of what gives one tensor and cannot fail.
func one(f func(o *stablehlo.Op, in []tensor) tensor) function {
	return func(_ *machine, o *stablehlo.Op, in []tensor) ([]tensor, error) { return []tensor{f(o, in)}, nil }
}

// scalars runs a region on scalars. A region of one operation on its arguments in order is that operation.
func (m *machine) scalars(r *stablehlo.Region, args []uint64) ([]uint64, error) {
	if len(r.Ops) == 2 && len(args) == 2 && len(r.Ops[0].Operands) == 2 {
		o := r.Ops[0]
		f, ok := binary[o.Name]
		if ok && o.Operands[0] == r.Args[0] && o.Operands[1] == r.Args[1] && r.Returned()[0] == o.Results[0] {
			return []uint64{f(o.Results[0].Type.Elem, args[0], args[1])}, nil
		}
	}
	in := make([]tensor, len(args))
	for i, a := range args {
		in[i] = tensor{r.Args[i].Type, []uint64{a}}
	}
	out, err := m.region(r, in)
	if err != nil {
		return nil, err
	}
	v := make([]uint64, len(out))
	for i, t := range out {
		v[i] = t.v[0]
	}
	return v, nil
}

func while(m *machine, o *stablehlo.Op, in []tensor) ([]tensor, error) {
	for {
		more, err := m.region(o.Regions[0], in)
		if err != nil || more[0].v[0] == 0 {
			return in, err
		}
		if in, err = m.region(o.Regions[1], in); err != nil {
			return nil, err
		}
	}
}

func branch(m *machine, o *stablehlo.Op, in []tensor) ([]tensor, error) {
	if in[0].v[0] != 0 {
		return m.region(o.Regions[0], nil)
	}
	return m.region(o.Regions[1], nil)
}

// load and store convert between arrays and tensors.
func load(a *array.Array) tensor {
	t := newTensor(stablehlo.Of(a.DType(), a.Shape()...))
	raw := make([]byte, a.Len()*a.DType().Size())
	array.CopyTo(raw, a)
	size := a.DType().Size()
	for i := range t.v {
		var bits uint64
		for k := range size {
			bits |= uint64(raw[i*size+place(k, size)]) << (8 * k)
		}
		t.v[i] = stablehlo.Extend(a.DType(), bits)
	}
	return t
}

func store(t tensor) *array.Array {
	a := array.New(t.t.Elem, t.t.Dims...)
	raw, size := array.Bytes(a), t.t.Elem.Size()
	for i, bits := range t.v {
		for k := range size {
			raw[i*size+place(k, size)] = byte(bits >> (8 * k))
		}
	}
	return a
}

// place returns where byte k of an element lies, the lowest being byte 0.
func place(k, size int) int {
	if array.LittleEndian() {
		return k
	}
	return size - 1 - k
}

// each calls f with every index of a shape in row-major order; f must not keep it.
func each(dims []int, f func(at []int)) {
	at := make([]int, len(dims))
	for n := stablehlo.Of(array.F32, dims...).Len(); n > 0; n-- {
		f(at)
		for i := len(at) - 1; i >= 0; i-- {
			if at[i]++; at[i] < dims[i] {
				break
			}
			at[i] = 0
		}
	}
}

// flat returns the place of an index in row-major order; it panics outside of the shape,
// which would be a mistake of this package.
func flat(dims, at []int) int {
	n := 0
	for i, d := range dims {
		if at[i] < 0 || at[i] >= d {
			panic("index " + strconv.Itoa(at[i]) + " of " + strconv.Itoa(d))
		}
		n = n*d + at[i]
	}
	return n
}
