// Package sharing makes random programs in which Cond and While return tensors that may be memory of others, which the program
// writes, shows, hands to Go code and returns. Tests of engines that record compare such a program with itself as Go code.
package sharing

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/gofx-dev/gofx/tensor"
)

type ts = []*tensor.Tensor

// Program is a random program over a pool of tensors.
type Program struct {
	Seen float64 // what it has looked at
	r    *rand.Rand
	pool ts
	rows *tensor.Tensor // f32[2,3]
	log  []string
}

// String writes down the steps of the last run.
func (p *Program) String() string { return strings.Join(p.log, "\n") }

// Looks reports whether the last run looked at data.
func (p *Program) Looks() bool {
	for _, l := range p.log {
		if strings.HasPrefix(l, "sum of ") {
			return true
		}
	}
	return false
}

func (p *Program) any() (*tensor.Tensor, int) {
	i := p.r.IntN(len(p.pool))
	return p.pool[i], i
}

func (p *Program) add(what string, list ...*tensor.Tensor) {
	p.log = append(p.log, fmt.Sprintf("%d = %s", len(p.pool), what))
	p.pool = append(p.pool, list...)
}

func (p *Program) did(format string, args ...any) {
	p.log = append(p.log, fmt.Sprintf(format, args...))
}

// give is what a function makes of its arguments: one of them, a value of outside, or a new one.
func (p *Program) give() (func(in ts) *tensor.Tensor, string) {
	outer, o := p.any()
	switch p.r.IntN(7) {
	case 0, 1:
		return func(in ts) *tensor.Tensor { return in[0] }, "a"
	case 5, 6:
		limit := []float64{-1e9, 1e9}[p.r.IntN(2)]
		then, t := p.give()
		els, e := p.give()
		return func(in ts) *tensor.Tensor {
			return tensor.Cond(in[0].Sum().GtScalar(limit), func(ts) ts { return ts{then(in)} }, func(c ts) ts { return ts{els(append(c, in[1:]...))} }, in[0])[0]
		}, fmt.Sprintf("(cond %v %s %s)", limit < 0, t, e)
	case 2:
		return func(in ts) *tensor.Tensor { return in[1] }, "b"
	case 3:
		return func(ts) *tensor.Tensor { return outer }, fmt.Sprint("outer ", o)
	}
	return func(in ts) *tensor.Tensor { return in[0].MulScalar(2) }, "2a"
}

func (p *Program) step(x *tensor.Tensor) {
	a, i := p.any()
	b, j := p.any()
	k := float64(1 + p.r.IntN(3))
	switch p.r.IntN(12) {
	case 0, 1:
		limit := []float64{-1e9, 1e9}[p.r.IntN(2)]
		then, t := p.give()
		els, e := p.give()
		p.add(fmt.Sprintf("cond(%v, %s, %s) of %d %d", limit < 0, t, e, i, j), tensor.Cond(x.Sum().GtScalar(limit), func(in ts) ts { return ts{then(in)} }, func(in ts) ts { return ts{els(in)} }, a, b)...)
	case 2:
		limit := float64(p.r.IntN(3))
		give, g := p.give()
		out := tensor.While(func(in ts) *tensor.Tensor { return in[2].LtScalar(limit) },
			func(in ts) ts { return ts{give(in), in[1], in[2].AddScalar(1)} }, a, b, tensor.Scalar(float32(0)))
		p.add(fmt.Sprintf("while %v %s of %d %d", limit, g, i, j), out[:2]...)
	case 3:
		limit := float64(p.r.IntN(3))
		out := tensor.While(func(in ts) *tensor.Tensor { return in[1].LtScalar(limit) },
			func(in ts) ts { return ts{in[0].AddScalarInPlace(k), in[1].AddScalar(1)} }, a, tensor.Scalar(float32(0)))
		p.add(fmt.Sprintf("while %v in place of %d", limit, i), out[0])
	case 4:
		limit := float64(p.r.IntN(3))
		out := tensor.While(func(in ts) *tensor.Tensor { return in[1].LtScalar(limit) },
			func(in ts) ts { b.AddScalarInPlace(k); return ts{in[0], in[1].AddScalar(1)} }, a, tensor.Scalar(float32(0)))
		p.add(fmt.Sprintf("while %v writes %d, of %d", limit, j, i), out[0])
	case 5:
		p.did("%d += %v", i, k)
		a.AddScalarInPlace(k)
	case 6:
		p.did("%d[:2] += %v", i, k)
		a.Slice(0, 0, 2).AddScalarInPlace(k)
	case 7:
		p.did("%d += %d", i, j)
		a.AddInPlace(b)
	case 8:
		p.did("data of %d[1] = %v", i, k)
		tensor.Data[float32](a)[1] = float32(k)
	case 9:
		p.did("sum of %d", i)
		p.Seen = p.Seen*3 + a.Sum().Item()
	case 11:
		give, g := p.give()
		last, _ := tensor.Scan(func(c, s ts) (next, out ts) { return ts{give(append(s, c...))}, nil }, ts{a}, ts{p.rows})
		p.add(fmt.Sprintf("scan %s of rows and %d", g, i), last[0])
	case 10:
		p.add(fmt.Sprintf("%v * %d", k, i), a.MulScalar(k))
	}
}

// Run runs the program of a seed on x, f32[3]. Its results are some of the pool, which may share memory.
func (p *Program) Run(seed uint64, x *tensor.Tensor) (out []*tensor.Tensor) {
	*p = Program{r: rand.New(rand.NewPCG(seed, 1))}
	if p.r.IntN(2) == 0 {
		p.add("eager", tensor.FromSlice([]float32{1, 2, 3}))
	} else {
		p.add("ones", tensor.Ones(3))
	}
	p.add("recorded", x.AddScalar(1))
	p.rows = tensor.FromSlice([]float32{1, 0, 2, 0, 3, 0}, 2, 3)
	if p.r.IntN(2) == 0 {
		p.rows = tensor.Stack(ts{x, x.Neg()}, 0)
	}
	if p.r.IntN(2) == 0 {
		p.add("x", x)
	}
	for range 3 + p.r.IntN(5) {
		p.step(x)
	}
	for range 1 + p.r.IntN(2) {
		a, i := p.any()
		p.did("return %d", i)
		out = append(out, a)
	}
	return append(out, p.rows)
}

// Told writes down tensors, before and after each of them is written.
func Told(list ...*tensor.Tensor) string {
	var b strings.Builder
	for i, x := range list {
		fmt.Fprintln(&b, x)
		x.AddScalarInPlace(float64(10 * (i + 1)))
	}
	return b.String() + fmt.Sprintln(list)
}
