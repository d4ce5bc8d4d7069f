package models

import (
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// Stream is the sequence of numbers that belongs to one name: SplitMix64 started
// at the FNV-1a hash of "seed/name". Any language can repeat it bit for bit.
type Stream uint64

// NewStream returns the stream of a qualified name.
func NewStream(seed, name string) Stream {
	h := uint64(0xCBF29CE484222325)
	for _, part := range []string{seed, "/", name} {
		for i := range len(part) {
			h = (h ^ uint64(part[i])) * 0x100000001B3
		}
	}
	return Stream(h)
}

// At returns the i-th number, uniform in [0, 1).
func (s Stream) At(i int) float64 {
	z := uint64(s) + (uint64(i)+1)*0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	z ^= z >> 31
	return float64(z>>11) * 0x1p-53
}

// Rule says how a synthetic parameter is made.
type Rule string

// The rules of parameters.
const (
	RuleConv        Rule = "conv"         // three axes and more: (2u-1)*sqrt(6/fan_in)
	RuleMatrix      Rule = "matrix"       // two axes: (2u-1)*sqrt(3/fan_in)
	RuleEmbedding   Rule = "embedding"    // (2u-1)*(0.05*sqrt(3))
	RuleNormWeight  Rule = "norm_weight"  // 0.75 + 0.5u
	RuleBias        Rule = "bias"         // any other vector: 0.1*(2u-1)
	RuleRunningMean Rule = "running_mean" // 0.2*(u-0.5)
	RuleRunningVar  Rule = "running_var"  // 0.5 + u
	RuleScalar      Rule = "scalar"       // no axis: 0.5 + u
	RuleZero        Rule = "zero"         // num_batches_tracked
)

// value returns the number of a rule for u; bound is that of conv and matrix.
// Conversions keep Go from contracting a product and a sum into one rounding.
func (r Rule) value(u, bound float64) float64 {
	switch r {
	case RuleConv, RuleMatrix, RuleEmbedding:
		return (float64(2*u) - 1) * bound
	case RuleNormWeight:
		return 0.75 + float64(0.5*u)
	case RuleBias:
		return 0.1 * (float64(2*u) - 1)
	case RuleRunningMean:
		return 0.2 * (u - 0.5)
	case RuleRunningVar, RuleScalar:
		return 0.5 + u
	}
	return 0
}

func (r Rule) bound(dims []int) float64 {
	if r == RuleEmbedding {
		return 0.05 * math.Sqrt(3)
	}
	fan := 1
	for _, n := range dims[min(1, len(dims)):] {
		fan *= n
	}
	if r == RuleConv {
		return math.Sqrt(6 / float64(fan))
	}
	return math.Sqrt(3 / float64(fan))
}

// RuleOf returns the rule of a parameter by the module that owns it (nil when it
// is not one of package nn), the parameter's own name and its rank.
func RuleOf(owner any, name string, rank int) Rule {
	switch name {
	case "num_batches_tracked":
		return RuleZero
	case "running_mean":
		return RuleRunningMean
	case "running_var":
		return RuleRunningVar
	}
	switch owner.(type) {
	case *nn.Embedding, *nn.EmbeddingBag:
		if rank == 2 {
			return RuleEmbedding
		}
	case *nn.BatchNorm1d, *nn.BatchNorm2d, *nn.BatchNorm3d, *nn.LayerNorm, *nn.GroupNorm, *nn.RMSNorm:
		if name == "weight" {
			return RuleNormWeight
		}
	}
	return [...]Rule{RuleScalar, RuleBias, RuleMatrix, RuleConv}[min(rank, 3)]
}

// fillJob is a run of elements of one parameter.
type fillJob struct {
	dst     []float32
	first   int
	stream  Stream
	rule    Rule
	bound   float64
	factors []float64
}

func (j *fillJob) run() {
	for i := range j.dst {
		v := j.rule.value(j.stream.At(j.first+i), j.bound)
		for _, f := range j.factors {
			v *= f
		}
		j.dst[i] = float32(v)
	}
}

const fillBlock = 1 << 18

// Synthetic fills the tensors of a module made by m.New with the formula of the
// reference outputs: each value depends on the seed, the tensor's name, its rule
// and its place alone. Tied tensors are filled once, under their first name. The values are
// of f32, rounded where the tensor has another float type; other tensors become 0. The first of
// m.Constants whose name matches is the value of a tensor.
func Synthetic(m *Model, module any, seed string) {
	owners := map[string]any{}
	tensor.Walk(module, func(it tensor.Item) bool {
		if it.Module != nil {
			owners[it.Path] = it.Module
		}
		return it.Module != nil
	})
	var b batch
	for _, e := range nn.StateDict(module) {
		x := e.Tensor
		dot := strings.LastIndexByte(e.Name, '.')
		rule := RuleOf(owners[e.Name[:max(dot, 0)]], e.Name[dot+1:], x.Rank())
		if rule == RuleZero || !x.DType().IsFloat() {
			nn.Constant(x, 0)
			continue
		}
		if i := slices.IndexFunc(m.Constants, func(c Constant) bool { return c.Name.MatchString(e.Name) }); i >= 0 {
			nn.Constant(x, m.Constants[i].Value)
			continue
		}
		var factors []float64
		for _, f := range m.Multipliers {
			if f.Name.MatchString(e.Name) {
				factors = append(factors, f.Factor)
			}
		}
		b.add(x, fillJob{stream: NewStream(seed, e.Name), rule: rule, bound: rule.bound(x.Shape()), factors: factors})
	}
	b.write()
}

// batch are tensors whose values are computed together, in arrays of their own: the memory of the tensors
// is handed to nobody.
type batch struct {
	jobs   []fillJob
	to     []*tensor.Tensor
	values []*array.Array
}

// batchJobs is how many jobs a batch has at least, so that all processors have work and few values
// are twice in memory.
const batchJobs = 32

// add adds a tensor. job is that of its elements, without a place.
func (b *batch) add(x *tensor.Tensor, job fillJob) {
	a := array.New(array.F32, x.Shape()...)
	b.to, b.values = append(b.to, x), append(b.values, a)
	data := array.Data[float32](a)
	for at := 0; at < len(data); at += fillBlock {
		job.dst, job.first = data[at:min(at+fillBlock, len(data))], at
		b.jobs = append(b.jobs, job)
	}
	if len(b.jobs) >= batchJobs {
		b.write()
	}
}

// write computes the values, and gives them to the tensors, in their own types.
func (b *batch) write() {
	inParallel(len(b.jobs), func(i int) { b.jobs[i].run() })
	for i, x := range b.to {
		x.AssignInPlace(tensor.Owned(b.values[i]))
	}
	*b = batch{}
}

// inParallel calls f for 0..n-1 on all processors.
func inParallel(n int, f func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	wg.Wait()
}
