package cpu

import (
	"errors"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op"
)

// host calls an opaque Go function. It is a step of plans that are executed;
// printed plans call the function by its name.
type host struct{ op *op.Op }

// Opaque tells plan.Step of the function.
func (h *host) Opaque() *op.Op { return h.op }

// Run implements kernel.Step. The function gets copies, because it may keep or
// return what it is given, and the plan's memory is used again.
func (h *host) Run(w *kernel.Workspace, out, in []*array.Array) {
	if h.op.Host == nil {
		panic(diag.New(lowering.HostFailed, "the opaque function "+h.op.Key()+" cannot run here"))
	}
	args := make([]*array.Array, len(in))
	for i, a := range in {
		if a != nil {
			args[i] = array.New(a.DType(), a.Shape()...)
			kernel.Copy{}.Run(w, args[i:i+1], in[i:i+1])
		}
	}
	res, err := h.op.Host(args)
	if err != nil {
		var e *diag.Error
		if !errors.As(err, &e) {
			e = &diag.Error{Code: lowering.HostFailed, Msg: "the Go function failed", Err: err}
		}
		panic(e)
	}
	if len(res) != len(out) {
		panic(diag.New(lowering.HostFailed, "the Go function returned "+strconv.Itoa(len(res))+" values, expected "+strconv.Itoa(len(out))))
	}
	for i, a := range res {
		if a == nil || a.DType() != out[i].DType() || !equal(a.Shape(), out[i].Shape()) {
			panic(diag.New(lowering.HostFailed, "value "+strconv.Itoa(i)+" of the Go function is "+describe(a)+", expected "+describe(out[i])).
				WithHint("declare the type that the function returns"))
		}
		kernel.Copy{}.Run(w, out[i:i+1], res[i:i+1])
	}
}
