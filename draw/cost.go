package draw

import (
	"fmt"
	"math"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/count"
)

// costName is the name of the overlay of operations, which a page makes of every stage.
const costName = "FLOPs"

// bytesName is that of the overlay of bytes moved, which only a page has.
const bytesName = "bytes"

// Cost is an overlay of the floating-point operations of each call, as its operator
// counts them. sizes are those of symbols, 1 when not given. A call that does most is
// hottest; one of a hundredth of its operations is a tenth as hot.
func Cost(m *graph.Module, sizes map[string]int) *Overlay {
	o := &Overlay{Name: costName, Marks: map[string]Mark{}}
	most := int64(1)
	for n := range m.Graph.Nodes() {
		most = max(most, valueAt(count.Flops(n), sizes))
	}
	for n := range m.Graph.Nodes() {
		if v := valueAt(count.Flops(n), sizes); v > 0 {
			o.Marks[n.Name()] = Mark{Heat: math.Sqrt(float64(v) / float64(most)), Text: Amount(v) + "FLOP"}
		}
	}
	for _, share := range []float64{0.01, 0.25, 1} {
		o.Legend = append(o.Legend, Mark{Heat: math.Sqrt(share), Text: Amount(int64(share*float64(most))) + "FLOP"})
	}
	return o
}

// Amount prints 1234567 as "1.23 M", so that a unit can follow.
func Amount(n int64) string {
	v, unit := float64(n), 0
	units := []string{" ", " k", " M", " G", " T", " P", " E"}
	for v >= 999.5 && unit < len(units)-1 {
		v /= 1000
		unit++
	}
	if unit == 0 {
		return fmt.Sprintf("%d ", n)
	}
	return fmt.Sprintf("%.3g%s", v, units[unit])
}
