package cpu

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// rule returns the step for a call and how many of its operands the step reads;
// nil when the operator's own kernel is to be used. Composite operators have none:
// their rule takes every call.
type rule func(n *graph.Node, attrs any, in []shape.Type) (step kernel.Step, operands int)

// rules are the operators for which a plan does better than their own kernel, with bits
// that the interpreter may not give; exact plans do without.
var rules = lowering.Rules[rule]{
	std.ScaledDotProductAttention: func(_ *graph.Node, attrs any, in []shape.Type) (kernel.Step, int) {
		a := attrs.(std.AttentionAttrs)
		k := &kernel.Attention{IsCausal: a.IsCausal, EnableGqa: a.EnableGqa}
		k.Scale, k.HasScale = a.Scale.Float64(), a.Scale.Present()
		return k, len(in)
	},
	std.Conv2dWeightGrad: func(n *graph.Node, attrs any, in []shape.Type) (kernel.Step, int) {
		k, err := n.Op().Step(attrs, in)
		s, is := k.(*kernel.ConvWeightGrad)
		if err != nil || !is || !ofThree(n.Type()) || strided(s.Stride, s.Dilation) {
			return nil, 0
		}
		s.Winograd = true
		return s, len(in)
	},
	std.Dropout: func(_ *graph.Node, attrs any, _ []shape.Type) (kernel.Step, int) {
		if attrs.(std.DropoutAttrs).Training {
			return nil, 0
		}
		return same()
	},
	// A plan writes nothing but state, which mayAlias knows, and its results have
	// memory of their own: a copy for its own sake is none.
	std.Clone: func(*graph.Node, any, []shape.Type) (kernel.Step, int) { return same() },
	std.Cast: func(n *graph.Node, _ any, in []shape.Type) (kernel.Step, int) {
		if d := n.Type().DType(); d == array.Invalid || d != in[0].DType() {
			return nil, 0
		}
		return same()
	},
}

// same is the step of what its first operand is already: a view of it. A copy would lie
// in order, which products that read it go by when they sum.
func same() (kernel.Step, int) { return &kernel.Reshape{}, 1 }

// find returns the rule for a call of a plan that is exact or not.
func find(n *graph.Node, exact bool) (rule, bool) {
	if exact {
		return nil, false
	}
	return rules.Find(n)
}

// contraction is a step that reads a weight, its second operand, packed or as it lies, and has
// an epilogue: in[2] is a bias, in[3] a scale, in[4] a residual.
type contraction struct {
	weights []int         // which operands of the call they are: one, except for recurrent networks
	pack    kernel.Packer // nil for a weight that is read as it lies
	with    func(kernel.Prologue, kernel.Epilogue) kernel.Step
	channel int // the axis of the result that bias and scale go along, from its end
	// prologue tells that the step has one: in[5] is a factor, in[6] a term. Channels of
	// the first operand go along the same axis.
	prologue bool
	// biasOnly tells that the step has no epilogue but a bias.
	biasOnly bool
	// alone tells that the step does better than the call's kernel without anything before it or
	// after it, too. Steps with a packed weight do.
	alone bool
	// whole tells that the step reads what the call does and does all of it: it has no
	// epilogue to be filled.
	whole bool
}

// contractionOf returns what takes the place of a kernel whose weight does not
// change; nil for kernels that nothing does better. turned tells that the weight is a
// matrix which the model has with its axes exchanged, image what sizes it is expected
// to be given.
func contractionOf(k kernel.Step, in []shape.Type, turned bool, o lowering.Options, image []int) *contraction {
	if len(in) < 2 || !in[0].Ranked() || !in[1].Ranked() {
		return nil
	}
	weight, ok := in[1].Dims().Known()
	if d := in[0].DType(); !ok || d != array.F32 && d != array.F16 && d != array.BF16 {
		return nil
	}
	brain := brained(in, o)
	switch k := k.(type) {
	case *kernel.Conv:
		if turned {
			return nil
		}
		brain := brain && kernel.ConvInBF16(*k, image, weight)
		s := kernel.ConvPacked{Conv: *k, Channels: weight[0], Kernel: weight[2:], In: image, Exact: o.Exact, BF16: brain}
		return &contraction{weights: []int{1}, pack: &kernel.PackConv{Conv: *k, In: image, Exact: o.Exact, BF16: brain}, channel: 1 - len(weight), prologue: true,
			with: func(p kernel.Prologue, e kernel.Epilogue) kernel.Step { s.Prologue, s.Epilogue = p, e; return &s }}
	case *kernel.Linear:
		return linear(weight[0], turned, brain, o.Weights)
	case *kernel.MatMul:
		if len(weight) == 2 {
			return linear(weight[1], !turned, brain, o.Weights)
		}
	}
	return nil
}

// brained reports whether a product rounds its operands to bf16: f32 where that is asked for, and bf16
// itself, whose rounding changes nothing.
func brained(in []shape.Type, o lowering.Options) bool {
	if o.Exact || o.Weights != array.Invalid {
		return false
	}
	x, weight := in[0].DType(), in[1].DType()
	return x == array.BF16 && weight == array.BF16 || o.Products == array.BF16 && x == array.F32 && weight == array.F32
}

// sumsAlike reports whether a kernel and the step that takes its place for a packed weight give
// the same bits, on every machine and whatever sizes symbols stand for.
func sumsAlike(k kernel.Step, in []shape.Type, out shape.Type) bool {
	if len(in) < 2 || !in[0].Ranked() || !in[1].Ranked() || !out.Ranked() {
		return false
	}
	x, weight := in[0].Dims(), in[1].Dims()
	switch k := k.(type) {
	case *kernel.Conv:
		filters, _ := weight.At(0).Int()
		return kernel.SumsInBlocks(filters/max(k.Groups, 1), atLeast(out.Dims(), out.Rank()-weight.Len()+2, out.Rank()))
	case *kernel.Linear:
		features, _ := weight.At(0).Int()
		return kernel.SumsInBlocks(atLeast(x, 0, x.Len()-1), features)
	case *kernel.MatMul: // which may multiply one matrix after the other
		if weight.Len() != 2 {
			return false
		}
		features, _ := weight.At(1).Int()
		return kernel.SumsInBlocks(atLeast(x, x.Len()-2, x.Len()-1), features)
	}
	return false
}

// atLeast returns how many elements dimensions from lo to hi have at least, where they have any.
func atLeast(dims shape.Dims, lo, hi int) int {
	n := 1
	for i := max(lo, 0); i < hi; i++ {
		if d, ok := dims.At(i).Int(); ok {
			n *= d
		}
	}
	return n
}

// fusedOf returns what takes the place of a kernel whose weight is another one in each run:
// a parameter that is written, or a value; nil for kernels that nothing does better. image is
// the images that are expected, and their spatial sizes.
func fusedOf(k kernel.Step, in []shape.Type, image []int) *contraction {
	if len(in) < 2 || !in[0].Ranked() || !in[1].Ranked() {
		return nil
	}
	if d := in[0].DType(); in[1].DType() != d || d != array.F32 && d != array.F16 && d != array.BF16 {
		return nil
	}
	product := func(transposed bool) *contraction {
		return &contraction{channel: -1, with: func(_ kernel.Prologue, e kernel.Epilogue) kernel.Step {
			return &kernel.LinearFused{Transposed: transposed, Epilogue: e}
		}}
	}
	switch k := k.(type) {
	case *kernel.Conv:
		s := kernel.ConvFused{Conv: *k, In: image}
		return &contraction{alone: transforms(k.Stride, k.Dilation, in[1], image), channel: 1 - in[1].Rank(), prologue: true,
			with: func(p kernel.Prologue, e kernel.Epilogue) kernel.Step { s.Prologue, s.Epilogue = p, e; return &s }}
	case *kernel.ConvTranspose:
		if !transforms(k.Stride, k.Dilation, in[1], image) {
			return nil
		}
		return &contraction{whole: true, with: func(kernel.Prologue, kernel.Epilogue) kernel.Step {
			return &kernel.ConvTransposeFused{ConvTranspose: *k, In: image}
		}}
	case *kernel.Linear:
		return product(false)
	case *kernel.MatMul:
		if in[1].Rank() == 2 {
			return product(true)
		}
	}
	return nil
}

// transforms reports whether a convolution may go by Winograd's algorithm: the kernel decides,
// on the processor that it runs on.
func transforms(stride, dilation []int, weight shape.Type, image []int) bool {
	_, ok := weight.Dims().Known()
	return ok && ofThree(weight) && len(image) == 3 && !strided(stride, dilation)
}

// ofThree reports whether the filters of a weight are of 3x3.
func ofThree(weight shape.Type) bool {
	return weight.Rank() == 4 && weight.Dim(2).Is(3) && weight.Dim(3).Is(3)
}

// strided reports whether a convolution has a stride or a dilation.
func strided(stride, dilation []int) bool {
	more := func(n int) bool { return n > 1 }
	return slices.ContainsFunc(stride, more) || slices.ContainsFunc(dilation, more)
}

func linear(features int, transposed, brain bool, narrow array.DType) *contraction {
	if narrow != array.Invalid {
		return &contraction{weights: []int{1}, pack: &kernel.PackHalf{DType: narrow, Transposed: transposed}, channel: -1, biasOnly: true,
			with: func(kernel.Prologue, kernel.Epilogue) kernel.Step { return &kernel.HalfLinear{} }}
	}
	return &contraction{weights: []int{1}, pack: &kernel.PackLinear{Transposed: transposed, BF16: brain}, channel: -1,
		with: func(_ kernel.Prologue, e kernel.Epilogue) kernel.Step {
			return &kernel.LinearPacked{Features: features, BF16: brain, Epilogue: e}
		}}
}

// quantised returns what takes the place of a kernel on quantised values whose weight
// does not change, with the same bits; nil for other kernels. What follows it is an
// operand or an attribute of the call already.
func quantised(k kernel.Step, in []shape.Type) *contraction {
	whole := func(weight int, pack kernel.Packer, s kernel.Step) *contraction {
		return &contraction{weights: []int{weight}, pack: pack, whole: true, with: func(kernel.Prologue, kernel.Epilogue) kernel.Step { return s }}
	}
	dims := func(i int) (sizes []int, unsigned bool) {
		if i < len(in) && in[i].Ranked() {
			sizes, _ = in[i].Dims().Known()
		}
		return sizes, i < len(in) && in[i].DType() == array.U8
	}
	layers := func(s kernel.Step) *contraction {
		c := whole(0, &kernel.QPackLinear{}, s)
		c.weights = nil
		for i, t := range in {
			if t.Kind() == shape.Tensor && t.DType() == array.I8 {
				c.weights = append(c.weights, i)
			}
		}
		return c
	}
	weight, unsigned := dims(qWeight)
	switch k := k.(type) {
	case *kernel.QLSTM:
		s := *k
		s.Packed = true
		return layers(&s)
	case *kernel.QGRU:
		s := *k
		s.Packed = true
		return layers(&s)
	case *kernel.QLinear:
		if weight != nil {
			return whole(qWeight, &kernel.QPackLinear{}, &kernel.QLinear{Packed: true, Unsigned: unsigned, ReLU: k.ReLU, Max: k.Max})
		}
	case *kernel.QMatMul:
		if len(weight) == 2 {
			return whole(qWeight, &kernel.QPackLinear{Transposed: true}, &kernel.QLinear{Packed: true, Unsigned: unsigned, ReLU: k.ReLU, Max: k.Max})
		}
	case *kernel.QConv:
		if weight != nil {
			s := *k
			s.Packed, s.Unsigned, s.Kernel = true, unsigned, weight[2:]
			return whole(qWeight, &kernel.QPackConv{Groups: k.Groups, Dilation: k.Dilation}, &s)
		}
	case *kernel.Int4Linear:
		// Rows of whole groups are read as they are, so that an embedding shares them.
		if columns, ok := in[0].Dim(-1).Int(); ok && columns%k.Group != 0 {
			return whole(1, &kernel.PackInt4{K: columns, Group: k.Group}, &kernel.Int4Linear{Packed: true, Group: k.Group})
		}
	}
	return nil
}

// qWeight is the weight among the operands of a product of quantised values.
const qWeight = 3
