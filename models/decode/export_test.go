package decode

import "github.com/gofx-dev/gofx/lowering/plan"

// CacheBytes is the memory of the keys and values of a text.
func CacheBytes(t *Text) (n int) {
	for _, a := range t.cache {
		n += a.Len() * a.DType().Size()
	}
	return n
}

// Plan returns the plan of a decoder.
func Plan(d *Decoder) *plan.Plan { return d.plan.Plan() }
