package train

import (
	"context"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

// dropped is a dropout of a graph in evaluation mode, which optimisation removes.
type dropped struct {
	node   *graph.Node
	module *nn.Dropout
	users  []taken
}

// taken is an operand of a node, by the node's name.
type taken struct {
	user string
	arg  int
}

// dropouts finds the dropouts of a graph, and refuses other calls that would do something else
// in training.
func dropouts(m *graph.Module, model any) ([]dropped, error) {
	modules := map[string]*nn.Dropout{}
	tensor.Walk(model, func(it tensor.Item) bool {
		if d, ok := it.Module.(*nn.Dropout); ok {
			modules[strings.TrimPrefix(it.Path, ".")] = d
		}
		return it.Module != nil
	})
	var errs diag.List
	var list []dropped
	for n := range m.All() {
		switch o := n.Op(); {
		case o == nil || !o.HasModes() || o == std.BatchNorm || o == std.BatchNormInference:
		case o == std.Dropout && n.Attrs().(std.DropoutAttrs).P == 0:
		case o == std.Dropout && modules[n.Scope().Path] != nil:
			d := dropped{node: n, module: modules[n.Scope().Path]}
			for u := range n.Users() {
				for i, a := range u.Args() {
					if a == n {
						d.users = append(d.users, taken{u.Name(), i})
					}
				}
			}
			list = append(list, d)
		default:
			errs.Add(noForm(n))
		}
	}
	return list, errs.Err()
}

func noForm(n *graph.Node) error {
	return n.Error(quant.NotPrepared, n.Op().Name+" has no form that is trained for quantisation").
		WithHint("use nn.Dropout between layers, not between a layer and its norm, or set the probability to 0")
}

// drop puts dropouts into the graph that is trained: after what is quantised, before what takes it.
func drop(ctx context.Context, gm *fx.GraphModule, model any, list []dropped) error {
	byName := map[string]*graph.Node{}
	for n := range gm.Graph.Nodes() {
		byName[n.Name()] = n
	}
	var errs diag.List
	for _, d := range list {
		made := map[*graph.Node]*graph.Node{} // of each value, so that all users see the same elements dropped
		for _, at := range d.users {
			u := byName[at.user]
			if u == nil || at.arg >= u.NumArgs() {
				errs.Add(noForm(d.node))
				continue
			}
			x := u.Arg(at.arg)
			if made[x] == nil {
				d.module.SetTraining(true)
				r := tracer.Tracer{Root: model, Name: "dropout", Frames: -1}
				out, err := r.Record(ctx, gm.Graph.Before(u), func(x *tensor.Tensor) *tensor.Tensor { return d.module.Forward(x) }, x)
				d.module.SetTraining(false)
				if err != nil {
					return err
				}
				made[x] = out[0]
			}
			u.SetArg(at.arg, made[x])
		}
	}
	for n := range gm.Graph.Nodes() {
		if n.Opcode() == graph.CallMethod || n.Opcode() == graph.CallModule && n.Bound() == nil {
			n.ToFunction()
		}
	}
	return errs.Err()
}
