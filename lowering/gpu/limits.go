package gpu

import (
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
)

// indexed reports whether 32 bits count the elements of a step's operands and results, those of weights and of what a rule lays
// out among them, and its work-items, with those of the last group that have nothing to do; else that is an error of the call.
func (b *builder) indexed(n *graph.Node, k *source.Kernel, values ...[]*value) bool {
	most := 0
	if items := k.Items(); items > source.MaxItems {
		most = items
	}
	for _, l := range values {
		for _, v := range l {
			most = max(most, b.buffers[v.buf].bytes/max(v.dtype().Size(), 1), v.header.Len())
		}
	}
	if most <= source.MaxElements {
		return true
	}
	msg := "a kernel counts to " + strconv.Itoa(most) + " elements, expected no more than " + strconv.Itoa(source.MaxElements)
	err := diag.New(lowering.Unsupported, msg)
	if n != nil {
		err = n.Error(lowering.Unsupported, msg)
	}
	b.errs = append(b.errs, err.WithHint("windows and what is laid out around them count, too; split the call, or let the cpu target run it (lowering.Split)"))
	return false
}
