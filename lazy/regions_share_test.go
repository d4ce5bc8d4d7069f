package lazy_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/tensor"
)

// sharing is a random program over a pool of tensors, of which Cond and While return some, and which it
// writes, shows, hands to Go code and returns.
type sharing struct {
	r    *rand.Rand
	pool ts
	log  []string
	seen float64
}

func (p *sharing) any() (*tensor.Tensor, int) {
	i := p.r.IntN(len(p.pool))
	return p.pool[i], i
}

func (p *sharing) add(what string, list ...*tensor.Tensor) {
	p.log = append(p.log, fmt.Sprintf("%d = %s", len(p.pool), what))
	p.pool = append(p.pool, list...)
}

func (p *sharing) did(format string, args ...any) {
	p.log = append(p.log, fmt.Sprintf(format, args...))
}

// give is what a function makes of its arguments: one of them, a value of outside, or a new one.
func (p *sharing) give() (func(in ts) *tensor.Tensor, string) {
	outer, o := p.any()
	switch p.r.IntN(5) {
	case 0, 1:
		return func(in ts) *tensor.Tensor { return in[0] }, "a"
	case 2:
		return func(in ts) *tensor.Tensor { return in[1] }, "b"
	case 3:
		return func(ts) *tensor.Tensor { return outer }, fmt.Sprint("outer ", o)
	}
	return func(in ts) *tensor.Tensor { return in[0].MulScalar(2) }, "2a"
}

func (p *sharing) step(x *tensor.Tensor) {
	a, i := p.any()
	b, j := p.any()
	k := float64(1 + p.r.IntN(3))
	switch p.r.IntN(11) {
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
		p.seen = p.seen*3 + a.Sum().Item()
	case 10:
		p.add(fmt.Sprintf("%v * %d", k, i), a.MulScalar(k))
	}
}

// run runs the program of a seed. Its results are some of the pool, which may share memory.
func (p *sharing) run(seed uint64, x *tensor.Tensor) (out ts) {
	*p = sharing{r: rand.New(rand.NewPCG(seed, 1))}
	p.add("eager", tensor.FromSlice([]float32{1, 2, 3}))
	p.add("recorded", x.AddScalar(1))
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
	return out
}

// told writes down results, before and after each of them, and what is given, is written.
func told(list ...*tensor.Tensor) string {
	var b strings.Builder
	for i, x := range list {
		fmt.Fprintln(&b, x)
		x.AddScalarInPlace(float64(10 * (i + 1)))
	}
	return b.String() + fmt.Sprintln(list)
}

// What Cond and While return may be the memory of what they are given. A program that writes to either has the values
// that it has as Go code, in a session and captured, or a mistake that says so.
func TestRegions_share_memory(t *testing.T) {
	count, loud, unknown := 2000, 0, 0
	if nightly() {
		count = 40000
	}
	stale := func(err error) bool {
		var e *diag.Error
		return errors.As(err, &e) && (e.Code == lazy.Stale || e.Code == lazy.Unseen)
	}
	for seed := range uint64(count) {
		given := func() *tensor.Tensor { return tensor.FromSlice([]float32{0.5, -1, 2}) }
		var p sharing
		x := given()
		list := p.run(seed, x)
		want := fmt.Sprint(p.seen, " ", told(append(list, x)...))
		program := strings.Join(p.log, "\n")

		s := lazy.New(lazy.Options{Regions: true})
		var made ts
		x = given()
		var c *lazy.Captured
		err := attempt(func() {
			var err error
			c, err = s.Capture(lazy.Code{Data: ts{x}, Run: func() { made = p.run(seed, x) }, Found: func() (list ts, all bool) {
				for _, y := range made {
					if y != x && !slices.Contains(list, y) {
						list = append(list, y)
					}
				}
				return list, true
			}})
			if err != nil {
				panic(err)
			}
		})
		s.Close()
		if err != nil {
			require.True(t, stale(err), "seed %d: %v\n%s", seed, err, program)
			loud++
		} else {
			require.Equal(t, want, fmt.Sprint(p.seen, " ", told(append(made, x)...)), "seed %d, captured (%s)\n%s", seed, c.Why, program)
		}

		s = lazy.New(lazy.Options{Regions: true, Synchronous: true})
		var got string
		if err := attempt(func() {
			x, list := s.In(given()), ts(nil)
			list = p.run(seed, x)
			got = fmt.Sprint(p.seen, " ", told(append(list, x)...))
		}); err != nil {
			require.True(t, stale(err), "seed %d, in a session: %v\n%s", seed, err, program)
			unknown++
		} else {
			require.Equal(t, want, got, "seed %d, in a session\n%s", seed, program)
		}
		s.Close()
	}
	t.Log(count, "programs, of which", loud, "are undone, and", unknown, "are mistakes in a session")
	require.Less(t, loud, count/2)
}

func attempt(f func()) (err error) {
	defer diag.Catch(&err)
	f()
	return nil
}
