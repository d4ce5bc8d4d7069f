package narrow

import (
	"strconv"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/blocks"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// BenchmarkOneRow multiplies one row by weights that lie in the second cache, and by
// more than any cache holds: bytes are those of weights, scales and zero points.
func BenchmarkOneRow(b *testing.B) {
	const k = 768
	for name, n := range map[string]int{"cache": 512, "memory": 100000} {
		x, out, scale := array.New(array.F32, 1, k), array.New(array.F32, 1, n), array.New(array.F32, n, k/32)
		each := array.New(array.F32, n)
		type product struct {
			step par.Step
			in   []*array.Array
		}
		products := map[string]product{
			"bf16":       {HalfLinear{}, []*array.Array{x, array.New(array.BF16, n, k)}},
			"int8":       {Int8Linear{}, []*array.Array{x, array.New(array.I8, n, k), each}},
			"int4":       {Int4Linear{Group: 32}, []*array.Array{x, array.New(array.U8, n, k/2), scale}},
			"int4 zeros": {Int4Linear{Group: 32}, []*array.Array{x, array.New(array.U8, n, k/2), scale, array.New(array.U8, n, k/32)}},
		}
		for _, format := range blocks.Names() {
			f := blocks.Lookup(format)
			products[format] = product{BlockLinear{Format: format}, []*array.Array{x, array.New(array.U8, n, k/f.Elements*f.Bytes)}}
			if f.HasIntegers() {
				products[format+" dynamic"] = product{BlockLinearDynamic{Format: format}, products[format].in}
			}
		}
		for kind, c := range products {
			b.Run(name+"/"+kind, func(b *testing.B) {
				w, bytes := &par.Workspace{Threads: 1}, 0
				for _, a := range c.in[1:] {
					bytes += a.Len() * a.DType().Size()
					for i, p := 0, array.Bytes(a); i < len(p); i += 4096 {
						p[i] = 1 // maps the page
					}
				}
				b.SetBytes(int64(bytes))
				for b.Loop() {
					c.step.Run(w, []*array.Array{out}, c.in)
				}
			})
		}
	}
}

// BenchmarkRows multiplies rows by weights in blocks that a second cache does not hold.
func BenchmarkRows(b *testing.B) {
	const n, k = 4096, 1024
	for _, f := range integerFormats() {
		weight := array.New(array.U8, n, k/f.Elements*f.Bytes)
		for _, m := range []int{4, 16, 512} {
			x, out := array.New(array.F32, m, k), array.New(array.F32, m, n)
			for name, step := range map[string]par.Step{"f32": BlockLinear{Format: f.Name}, "dynamic": BlockLinearDynamic{Format: f.Name}} {
				b.Run(f.Name+"/"+strconv.Itoa(m)+"/"+name, func(b *testing.B) {
					w := &par.Workspace{Threads: 1}
					for b.Loop() {
						step.Run(w, []*array.Array{out}, []*array.Array{x, weight})
					}
					b.ReportMetric(float64(m*n*k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gmac/s")
				})
			}
		}
	}
}
