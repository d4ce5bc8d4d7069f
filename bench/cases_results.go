package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/nets"
	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// engine is where a program of a workload runs: a session, or eager code where that is nil.
type engine struct {
	s *lazy.Session
}

func (e engine) in(x *tensor.Tensor) *tensor.Tensor {
	if e.s == nil {
		return x
	}
	return e.s.In(x)
}

// gradients returns a loss and its derivatives.
func (e engine) gradients(loss func() *tensor.Tensor, by []*tensor.Tensor) (*tensor.Tensor, []*tensor.Tensor, error) {
	if e.s == nil {
		return fx.ValueAndGrad(loss, by...)
	}
	v := loss()
	return v, tensor.Grad(v, by...), nil
}

// barrier has all values of a step computed at once.
func (e engine) barrier() error {
	if e.s == nil {
		return nil
	}
	return e.s.Barrier()
}

// program is one step of a workload: its results, which it reads.
type program func(e engine) ([]*array.Array, error)

// resultCases are the workloads that papers measure and the group lazy does not have. What is
// counted at each is in results.go.
func resultCases() []*Case {
	list := []*Case{
		networkResult("W3_bert_base_7_tokens", models.Lookup("bert_base"), map[string]int{"N": 1, "S": 7}),
		networkResult("W4_bert_base_160_tokens", answers(models.BertBase), map[string]int{"N": 1, "S": 160}),
		networkResult("W17_decoder_2_layers", decoder2(), map[string]int{"N": 1, "S": tokens}),
		networkResult("W7_resnet18_28x28", small28("resnet18"), map[string]int{"N": 1}),
		networkResult("W7_mobilenet_v3_large_28x28", small28("mobilenet_v3_large"), map[string]int{"N": 1}),
		programResult("W5_roberta_large_12_tokens", fillMask),
		programResult("W6_gpt2_8_tokens", generation),
		programResult("W11_masked_lm_step", maskedLM),
	}
	for _, n := range []int{4, 8, 14} {
		for _, width := range []int{models.WordSegEnglish.Width, 32} {
			list = append(list, wordSegResult(n, width, false), wordSegResult(n, width, true))
		}
	}
	for _, n := range []int{10, 300} {
		list = append(list, programResult("W14_boxes_"+itoa(n), boxes(n)))
	}
	for _, id := range counted() {
		list = append(list, &Case{Group: resultGroup, Shape: id + countSuffix, Tol: -1, Counts: countOf(id)})
	}
	return list
}

// networkResult is a network in a session, call by call, at once, and as the plan of its trace.
func networkResult(shape string, m *models.Model, dims map[string]int) *Case {
	return &Case{Group: resultGroup, Shape: shape, Tol: networkTol, Op: "network", Network: m, Dims: dims, Engines: lazyEngines()}
}

// lazyEngines are ways to compute a network with the bits of eager code, the session first.
func lazyEngines() []Engine {
	return []Engine{
		{Name: "session", Ours: func(w *network, threads int) (*Ours, error) { return w.session(lazy.Options{Threads: threads}) }},
		{Name: callByCall, Ours: func(w *network, threads int) (*Ours, error) {
			return w.session(lazy.Options{Threads: threads, Warm: math.MaxInt})
		}},
		{Name: "program", Ours: (*network).program},
		{Name: "plan exact", Ours: func(w *network, threads int) (*Ours, error) {
			return oursPlan(graph.Clone(w.traced), w.arrays(), lowering.Options{Threads: threads, Shapes: w.dims, Exact: true})
		}},
		{Name: "eager", Ours: func(w *network, _ int) (*Ours, error) { return w.eager() }},
	}
}

// callByCall is a session that compiles nothing.
const callByCall = "call by call"

// program runs the module as a program of a session.
func (w *network) program(threads int) (*Ours, error) {
	s := lazy.New(lazy.Options{Threads: threads})
	p, err := s.Program(w.module, w.in...)
	if err != nil {
		return nil, err
	}
	v, err := oursCalls("program", func() (out []*array.Array, err error) {
		results, err := p.Run(w.in...)
		for _, y := range results {
			out = append(out, y.Array())
		}
		return out, err
	})
	if err == nil {
		v.Close = func() { _ = s.Close() }
	}
	return v, err
}

// programResult is a program in three ways: in a session, call by call, and eagerly. Each way makes its own model,
// since a step may write to it.
func programResult(shape string, make func() (program, error)) *Case {
	c := &Case{Group: resultGroup, Shape: shape, Tol: networkTol}
	session := func(o lazy.Options) func([]*array.Array, int) (*Ours, error) {
		return func(_ []*array.Array, threads int) (*Ours, error) {
			p, err := make()
			if err != nil {
				return nil, err
			}
			o.Threads, o.Gradients = threads, true
			s := lazy.New(o)
			v, err := warm(s, func() ([]*array.Array, error) {
				out, err := p(engine{s})
				if err != nil {
					return nil, err
				}
				return out, s.Barrier()
			})
			if err == nil {
				v.Close = func() { _ = s.Close() }
			}
			return v, err
		}
	}
	c.Ours = session(lazy.Options{})
	c.Ways = []Way{{callByCall, session(lazy.Options{Warm: math.MaxInt})}, {"eager", func([]*array.Array, int) (*Ours, error) {
		p, err := make()
		if err != nil {
			return nil, err
		}
		return warmed("eager", func() ([]*array.Array, error) { return p(engine{}) })
	}}}
	return c
}

// warmed runs eager code as often before it is measured as sessions run: what a step writes is the same.
func warmed(name string, f func() ([]*array.Array, error)) (*Ours, error) {
	for range 3 {
		if _, err := f(); err != nil {
			return nil, err
		}
	}
	return oursCalls(name, f)
}

// answers is a BERT that answers questions, with the weights of formulas.
func answers(c models.BertConfig) *models.Model {
	m := *models.Lookup("bert_base")
	m.New = func() any { return models.NewBertForQuestionAnswering(c) }
	return &m
}

// decoder2 is GPT-2 cut to two layers.
func decoder2() *models.Model {
	c := models.GPT2Small
	c.NumLayers = 2
	m := *models.Lookup("gpt2")
	m.New = func() any { return models.NewGPT2(c) }
	return &m
}

// small28 is a classifier of images of 28 by 28.
func small28(name string) *models.Model {
	m := *models.Lookup(name)
	m.Inputs = []models.InputSpec{{Name: "x", Type: "f32[N,3,28,28]", Rule: models.Uniform{}}}
	return &m
}

// textOf is a text of so many tokens.
func textOf(n, from, vocabulary int) *tensor.Tensor {
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = int64(2 + (from+7*i)%(vocabulary-2))
	}
	return tensor.FromSlice(ids, 1, n)
}

func synthetic[M any](m M) M {
	models.Synthetic(&models.Model{}, m, seed)
	return m
}

func fillMask() (program, error) {
	m := synthetic(models.NewRobertaForMaskedLM(models.RobertaLarge))
	ids := textOf(12, 1, models.RobertaLarge.VocabSize)
	return func(e engine) ([]*array.Array, error) {
		x := e.in(ids)
		return []*array.Array{m.Forward(x, x.OnesLike()).Select(1, 4).Array()}, nil
	}, nil
}

func generation() (program, error) {
	m := synthetic(models.NewGPT2Decoder(models.GPT2Small))
	prompt := textOf(4, 1, models.GPT2Small.VocabSize)
	return func(e engine) ([]*array.Array, error) {
		var tokens []int64
		for t := range m.Generate(e.in(prompt)) {
			if tokens = append(tokens, t); len(tokens) == 8 {
				break
			}
		}
		return []*array.Array{array.FromSlice(tokens, len(tokens))}, nil
	}, nil
}

func wordSegResult(n, width int, gradients bool) *Case {
	name := "W13_" + itoa(n) + "_letters_width_" + itoa(width)
	if gradients {
		name += "_gradient"
	}
	return programResult(name, func() (program, error) { return wordSeg(n, width, gradients) })
}

func wordSeg(n, width int, gradients bool) (program, error) {
	c := models.WordSegEnglish
	if width != c.Width {
		c.Width, c.Words = width, 4
	}
	m := synthetic(models.NewWordSeg(c))
	letters, words := models.Lexicon{"the", "dog", "ran"}.Read("thedogranaways"[:n], c.MaxLength)
	params := nn.Parameters(m)
	return func(e engine) ([]*array.Array, error) {
		x, y := e.in(letters), e.in(words)
		if !gradients {
			return []*array.Array{m.Loss(x, y).Array()}, nil
		}
		loss, grads, err := e.gradients(func() *tensor.Tensor { return m.Loss(x, y) }, params)
		if err != nil {
			return nil, err
		}
		if err := e.barrier(); err != nil {
			return nil, err
		}
		out := []*array.Array{loss.Array()}
		for _, g := range grads {
			out = append(out, g.Array())
		}
		return out, nil
	}, nil
}

// boxes are the areas of boxes, weighed.
func boxes(n int) func() (program, error) {
	v := make([]float32, 4*n)
	for i := range v {
		v[i] = float32(i*7919%101) / 101
	}
	all := tensor.FromSlice(v, n, 4)
	return func() (program, error) {
		return func(e engine) ([]*array.Array, error) {
			b := e.in(all)
			area := b.Select(1, 2).Sub(b.Select(1, 0)).Mul(b.Select(1, 3).Sub(b.Select(1, 1)))
			return []*array.Array{area.Softmax(0).Mul(area).Sum().Array()}, nil
		}, nil
	}
}

// learningRate is that of the masked language model, whose parameters follow their gradients.
const learningRate = 0.01

// maskedLM is a step of training of a small RoBERTa: forwards, gradients, update in place.
func maskedLM() (program, error) {
	c := models.RobertaLarge
	c.VocabSize, c.HiddenSize, c.NumLayers, c.NumHeads, c.IntermediateSize = 1000, 128, 2, 4, 512
	m := synthetic(models.NewRobertaForMaskedLM(c))
	ids := textOf(32, 3, c.VocabSize)
	params := slices.DeleteFunc(nn.Parameters(m), func(p *tensor.Tensor) bool { return ofPooler(m, p) })
	entropy := nn.NewCrossEntropyLoss()
	return func(e engine) ([]*array.Array, error) {
		x := e.in(ids)
		loss, grads, err := e.gradients(func() *tensor.Tensor {
			return entropy.Forward(m.Forward(x, x.OnesLike()).Flatten(0, 1), x.Flatten(0, 1))
		}, params)
		if err != nil {
			return nil, err
		}
		for i, g := range grads {
			params[i].SubInPlace(g.MulScalar(learningRate))
		}
		if err := e.barrier(); err != nil {
			return nil, err
		}
		return []*array.Array{loss.Array()}, nil
	}, nil
}

// ofPooler reports whether the pooler has a parameter, which no loss of tokens depends on.
func ofPooler(m *models.RobertaForMaskedLM, p *tensor.Tensor) bool {
	return p == m.Roberta.Pooler.Dense.Weight || p == m.Roberta.Pooler.Dense.Bias
}

// compiledCases are networks as compiled functions: what is counted of them is below.
func compiledCases() []*Case {
	return []*Case{
		compiledResult("W32_resnet18_28x28", small28("resnet18"), map[string]int{"N": 1}),
		compiledResult("W32_resnet18", models.Lookup("resnet18"), map[string]int{"N": 1}),
		compiledResult("W32_densenet121", models.Lookup("densenet121"), map[string]int{"N": 1}),
		compiledResult("W32_bert_base_7_tokens", models.Lookup("bert_base"), map[string]int{"N": 1, "S": 7}),
		compiledResult("W32_lstm_10x256", models.Lookup("lstm_10x256"), map[string]int{"T": 64, "N": 1}),
	}
}

// roundingTol is the difference that a network of rounded numbers is allowed: a sum that is off by a bit may take another step.
const roundingTol = 2e-2

// paperCases are the networks of MagPy that no other case has.
func paperCases() (list []*Case) {
	for _, p := range nets.Papers() {
		if !slices.ContainsFunc(compiledCases(), func(c *Case) bool { return c.Network.Name == p.Model.Name }) {
			c := compiledResult(p.ID+"_"+p.Model.Name, p.Model, p.Model.Dims)
			if p.Model.Name == "quantized" {
				c.Tol = roundingTol
			}
			list = append(list, c)
		}
	}
	return list
}

// compiledResult is a network as a compiled function, and in the ways of networkResult.
func compiledResult(shape string, m *models.Model, dims map[string]int) *Case {
	c := networkResult(shape, m, dims)
	c.Compile = true
	c.Engines = append([]Engine{{Name: "compiled", Ours: (*network).compiled}}, c.Engines...)
	return c
}

// compiled runs the module as a compiled function, with the bits of eager code.
func (w *network) compiled(threads int) (*Ours, error) {
	f, err := nets.New(w.module, compile.Strict(), compile.On(cpu.Target{}, lowering.Options{Exact: true, Threads: threads}))
	if err != nil {
		return nil, err
	}
	call := func() (out []*array.Array, err error) {
		for _, y := range f.Call(w.in...) {
			out = append(out, y.Array())
		}
		return out, nil
	}
	for range 3 {
		if _, err := call(); err != nil {
			return nil, err
		}
	}
	if s := f.Stats(); s.Records != 1 || s.Hits == 0 {
		return nil, fmt.Errorf("expected hits of one record, got %s", s)
	}
	v, err := oursCalls("compiled", call)
	if err == nil {
		v.Close = f.Close
	}
	return v, err
}

// sizesOf are sizes that differ in one name.
func sizesOf(base map[string]int, name string, values ...int) (list []map[string]int) {
	for _, v := range values {
		dims := map[string]int{name: v}
		for k, n := range base {
			if k != name {
				dims[k] = n
			}
		}
		list = append(list, dims)
	}
	return list
}
