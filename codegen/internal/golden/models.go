package golden

import (
	"math"
	"reflect"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/fusion"
	"github.com/gofx-dev/gofx/passes/partition"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/tensor"
)

func isFunc(fn any) bool { return reflect.TypeOf(fn).Kind() == reflect.Func }

// ramp returns floats that vary in sign and size.
func ramp(shape ...int) *tensor.Tensor {
	a := array.New(array.F32, shape...)
	d := array.Data[float32](a)
	for i := range d {
		d[i] = float32((i*5)%13)*0.2 - 1.1
	}
	return tensor.New(a)
}

// fill gives every tensor of a module values that are not zero.
func fill[M any](m M) M {
	for i, e := range nn.StateDict(m) {
		if e.Tensor.DType() != array.F32 {
			continue
		}
		d := array.Data[float32](e.Tensor.Array())
		for k := range d {
			d[k] = float32((k*7+i)%9)*0.1 + 0.05
		}
	}
	return m
}

// MLP is a perceptron.
type MLP struct {
	Fc1, Fc2 *nn.Linear
}

// Forward takes x [N, 4] to [N, 2].
func (m *MLP) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Fc2.Forward(tensor.Relu(m.Fc1.Forward(x)))
}

// Block is a residual block.
type Block struct {
	Conv *nn.Conv2d
	Bn   *nn.BatchNorm2d
}

// Forward adds the convolved input to the input.
func (m *Block) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Bn.Forward(m.Conv.Forward(x)).Add(x).Relu()
}

// Residual is a network of blocks that are reached through an interface.
type Residual struct {
	Stem   nn.Conv2d
	Layers *nn.Sequential
	Head   map[string]*nn.Linear
}

// Forward takes images [N, 1, H, W] to [N, 3].
func (m *Residual) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = nn.Run(m.Layers, m.Stem.Forward(x))
	return m.Head["a-b"].Forward(x.Mean(2, 3))
}

func newResidual() *Residual {
	conv := func(in int) *nn.Conv2d { return nn.NewConv2d(in, 2, 3, nn.Padding(1), nn.NoInit()) }
	block := func() *Block { return &Block{conv(2), nn.NewBatchNorm2d(2, nn.NoInit())} }
	return &Residual{Stem: *conv(1), Layers: nn.NewSequential(block(), nn.NewReLU(), block()),
		Head: map[string]*nn.Linear{"a-b": nn.NewLinear(2, 3, nn.NoInit())}}
}

// Nested is a result with parts of every kind.
type Nested struct {
	Pair  *Inner
	List  []*tensor.Tensor
	Named map[string]Inner
}

// Inner is a part of Nested.
type Inner struct {
	A, B *tensor.Tensor
}

func shifted(x, shift, scale *tensor.Tensor) *tensor.Tensor { return x.Sub(shift).Mul(scale) }

func nested(x *tensor.Tensor) Nested {
	return Nested{Pair: &Inner{A: x.Neg()}, List: []*tensor.Tensor{x.Abs(), x}, Named: map[string]Inner{"k 1": {x.Exp(), x.Relu()}}}
}

// Routed uses parameters inside of regions and through tensor.On.
type Routed struct {
	W, B *tensor.Tensor
	Seen *tensor.Tensor `fx:",buffer"`
}

// Forward reads the parameters where a trace has to be told of it.
func (m *Routed) Forward(x *tensor.Tensor) *tensor.Tensor {
	w := tensor.On(x, m.W).T()
	m.Seen.AssignInPlace(m.Seen.Add(x.Sum()))
	m.Seen.AssignInPlace(tensor.Maximum(m.Seen, x.Mean()))
	y := tensor.Cond(x.Sum().GtScalar(0),
		func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].Matmul(w).Add(m.B)} },
		func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].Matmul(m.W.T()), m.B}[:1] }, x)[0]
	return y.Add(m.Seen)
}

// Recurrent scans with weights that the body uses from outside.
type Recurrent struct {
	W *tensor.Tensor
}

// Forward takes x [T, 3] to the last state and all of them.
func (m *Recurrent) Forward(x *tensor.Tensor) (*tensor.Tensor, *tensor.Tensor) {
	scale := x.Mean()
	w := m.W.Mul(scale)
	last, all := tensor.Scan(func(carry, rows []*tensor.Tensor) (next, out []*tensor.Tensor) {
		inner := tensor.While(
			func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Abs().Sum().GtScalar(2) },
			func(in []*tensor.Tensor) []*tensor.Tensor {
				return []*tensor.Tensor{in[0].MulScalar(0.5).Mul(scale.Sigmoid())}
			},
			carry[0].Matmul(w).Add(rows[0]))
		h := inner[0].Tanh().Reshape(rows[0].Size(0))
		return []*tensor.Tensor{h}, []*tensor.Tensor{h, h.Sum()}
	}, []*tensor.Tensor{tensor.Zeros(3)}, []*tensor.Tensor{x})
	return last[0], all[1]
}

// deep computes more from one parameter than a recipe remembers.
type deep struct{ W *tensor.Tensor }

func (m *deep) Forward(x *tensor.Tensor) *tensor.Tensor {
	w := tensor.On(x, m.W)
	for range 20 {
		w = tensor.Tanh(w)
	}
	return x.Add(w)
}

// Gated has a part that traces do not look into.
type Gated struct {
	Gate *Gate
	Fc   *nn.Linear
}

// Gate is opaque in this test.
type Gate struct{ Limit float32 }

// TypeRule tells that both have one type.
func (g *Gate) TypeRule() tensor.TypeRule {
	return tensor.Signature("f32[N,K], f32[N,K] -> f32[N,K], f32[N,K]")
}

// Forward returns two values that depend on data.
func (g *Gate) Forward(x, y *tensor.Tensor) (*tensor.Tensor, *tensor.Tensor) {
	if tensor.Data[float32](x)[0] > g.Limit {
		return x, y
	}
	return y, x
}

// Forward runs the gate between two layers.
func (m *Gated) Forward(x *tensor.Tensor) *tensor.Tensor {
	out := nn.RunAll(m.Gate, x, m.Fc.Forward(x))
	return out[0].Sub(out[1])
}

// Stack is long enough to be split.
type Stack struct {
	Blocks []*Step
	Out    *nn.Linear
}

// Step is a block of Stack.
type Step struct{ Fc *nn.Linear }

// Forward is one block.
func (m *Step) Forward(x *tensor.Tensor) *tensor.Tensor {
	a, b := x.Size(0), x.Size(1)
	y := m.Fc.Forward(x).Relu().Reshape(a, b).Add(x)
	p := y.Chunk(2, 1)
	return tensor.Cat([]*tensor.Tensor{p[1].Neg().Abs().Exp(), p[0]}, 1).Tanh()
}

// Forward runs the blocks.
func (m *Stack) Forward(x *tensor.Tensor) *tensor.Tensor {
	for _, b := range m.Blocks {
		x = nn.Run(b, x)
	}
	return m.Out.Forward(x)
}

func newStack() *Stack {
	s := &Stack{Out: nn.NewLinear(4, 2, nn.NoInit())}
	for range 3 {
		s.Blocks = append(s.Blocks, &Step{nn.NewLinear(4, 4, nn.NoInit())})
	}
	return s
}

func spec(typ string) []fx.Option { return []fx.Option{fx.Input("x", typ)} }

func one(f func(x *tensor.Tensor) *tensor.Tensor) func([]*tensor.Tensor) []*tensor.Tensor {
	return func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{f(in[0])} }
}

func module(name, typ string, m nn.Module, in ...*tensor.Tensor) Case {
	c := Case{Name: name, Fn: m, Opts: spec(typ), Eager: one(m.Forward)}
	c.Options.Root = m
	for _, x := range in {
		c.Inputs = append(c.Inputs, []*tensor.Tensor{x})
	}
	return c
}

func own() []Case {
	mlp := func() *MLP { return fill(&MLP{nn.NewLinear(4, 3, nn.NoInit()), nn.NewLinear(3, 2, nn.NoInit())}) }
	state := module("mlp with state of its own", "f32[N,4]", mlp(), ramp(2, 4))
	state.Options.Root, state.Options.Eject = nil, true
	list := module("residual in a named list", "f32[N,1,4,4]",
		fill(nn.NewNamedSequential(nn.Named("net", newResidual()))), ramp(2, 1, 4, 4))
	list.Options.MaxStatements = 5
	rnn := &Recurrent{ramp(3, 3)}
	gated := module("opaque module", "f32[N,2]", fill(&Gated{&Gate{0.5}, nn.NewLinear(2, 2, nn.NoInit())}), ramp(3, 2))
	gated.Policy = []fx.Option{fx.Leaf(func(m any, _ string, library bool) bool { _, gate := m.(*Gate); return gate || library })}
	gated.Opts = append(gated.Opts, gated.Policy...)
	stack := module("split", "f32[N,4]", fill(newStack()), ramp(3, 4))
	stack.Options.MaxStatements = 10
	splitState := module("split with state of its own", "f32[N,4]", fill(newStack()), ramp(3, 4))
	splitState.Options.MaxStatements, splitState.Options.Root = 10, nil
	parts := func(n Nested) []*tensor.Tensor {
		return []*tensor.Tensor{n.Pair.A, n.List[0], n.List[1], n.Named["k 1"].A, n.Named["k 1"].B}
	}
	result := Case{Name: "nested result", Fn: nested, Opts: spec("f32[N]"), Inputs: [][]*tensor.Tensor{{ramp(3)}},
		Eager: func(in []*tensor.Tensor) []*tensor.Tensor { return parts(nested(in[0])) }}
	exact := result
	exact.Name, exact.Options.Results = "nested result of the user's type", []reflect.Type{reflect.TypeFor[Nested]()}
	folded := module("residual with folded weights", "f32[N,1,4,4]", fill(newResidual()), ramp(2, 1, 4, 4))
	folded.Passes = []passes.Pass{fusion.ConvBN}
	optional := Case{Name: "optional input", Fn: shifted, Opts: []fx.Option{fx.Input("x", "f32[2]"),
		fx.InputDefault("shift", "f32[2]", array.FromSlice([]float32{0.1, float32(math.Inf(1))}, 2)), fx.InputDefault("scale", "f32[]", array.Scalar(float32(0.5)))},
		Inputs: [][]*tensor.Tensor{{ramp(2), nil, nil}, {ramp(2), ramp(2), tensor.Scalar(float32(3))}},
		Eager: func(in []*tensor.Tensor) []*tensor.Tensor {
			if in[1] == nil {
				return []*tensor.Tensor{shifted(in[0], tensor.FromSlice([]float32{0.1, float32(math.Inf(1))}, 2), tensor.Scalar(float32(0.5)))}
			}
			return []*tensor.Tensor{shifted(in[0], in[1], in[2])}
		}}
	return append(zoo(), []Case{
		optional,
		module("mlp", "f32[N,4]", mlp(), ramp(2, 4), ramp(5, 4)),
		state,
		module("residual", "f32[N,1,H,H]", fill(newResidual()), ramp(2, 1, 5, 5)),
		list, result, exact,
		module("parameters in regions", "f32[N,3]", &Routed{ramp(2, 3), ramp(2), tensor.FromSlice([]float32{0}, 1)}, ramp(2, 3)),
		{Name: "recurrence", Fn: rnn, Opts: spec("f32[T,3]"), Inputs: [][]*tensor.Tensor{{ramp(4, 3)}}, Options: codegen.ModuleOptions{Root: rnn},
			Eager: func(in []*tensor.Tensor) []*tensor.Tensor { a, b := rnn.Forward(in[0]); return []*tensor.Tensor{a, b} }},
		module("deep recipe of an unexported type", "f32[N]", &deep{ramp(3)}, ramp(3)),
		gated, stack, splitState, folded,
	}...)
}

// zoo are networks of package models, the transformers in small sizes.
func zoo() []Case {
	bert := fill(models.NewBert(models.BertConfig{VocabSize: 11, MaxPositions: 6, TypeVocabSize: 2, HiddenSize: 4, NumLayers: 2,
		NumHeads: 2, IntermediateSize: 8, LayerNormEps: 1e-12}))
	gpt2 := fill(models.NewGPT2(models.GPT2Config{VocabSize: 11, MaxPositions: 6, Width: 4, NumLayers: 2, NumHeads: 2, LayerNormEps: 1e-5}))
	resnet := models.NewResNet18()
	ids := tensor.FromSlice([]int64{1, 5, 9, 0, 2, 10}, 2, 3)
	mask := tensor.FromSlice([]int64{1, 1, 1, 1, 1, 0}, 2, 3)
	token := []fx.Option{fx.Input("input_ids", "i64[N,S]")}
	all := []Case{
		{Name: "resnet18", Fn: resnet, Opts: spec("f32[N,3,224,224]")},
		{Name: "bert", Fn: bert, Opts: append(token[:1:1], fx.Input("attention_mask", "i64[N,S]")), Inputs: [][]*tensor.Tensor{{ids, mask}},
			Eager: func(in []*tensor.Tensor) []*tensor.Tensor {
				a, b := bert.Forward(in[0], in[1])
				return []*tensor.Tensor{a, b}
			}},
		{Name: "gpt2", Fn: gpt2, Opts: token, Inputs: [][]*tensor.Tensor{{ids}}, Eager: func(in []*tensor.Tensor) []*tensor.Tensor {
			a, b := gpt2.Forward(in[0])
			return []*tensor.Tensor{a, b}
		}},
	}
	for i := range all {
		all[i].Options.Root = all[i].Fn
	}
	rolled := all[1]
	rolled.Name, rolled.Passes = "bert with one function for its layers", []passes.Pass{simplify.Functionalize, partition.Reroll}
	own := rolled
	own.Name, own.Options.Root = "bert with one function and state of its own", nil
	return append(all, rolled, own)
}
