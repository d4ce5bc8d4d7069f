package lowering

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
)

// Into says that a result, in the order in which a run returns them, is made in the memory of an input,
// which has the same type. Each result and each input is named once.
type Into struct{ Result, Input int }

// checkInto reports pairs that name what is not there, or twice.
func (o Options) checkInto(g *graph.Graph) (errs diag.List) {
	results := len(o.Outputs)
	if out := g.Output(); o.Outputs == nil && out != nil {
		results = out.NumArgs()
	}
	made, taken := map[int]bool{}, map[int]bool{}
	for _, p := range o.Into {
		what := "result " + strconv.Itoa(p.Result) + " is to be made in input " + strconv.Itoa(p.Input)
		switch inputs := len(g.Inputs()); {
		case p.Result < 0 || p.Result >= results || p.Input < 0 || p.Input >= inputs:
			errs = append(errs, diag.New(BadOption, what+", there are "+strconv.Itoa(results)+" results and "+strconv.Itoa(inputs)+" inputs").WithHint("count from 0, results as a run returns them"))
		case made[p.Result] || taken[p.Input]:
			errs = append(errs, diag.New(BadOption, what+", one of them is named before").WithHint("name each result and each input once"))
		}
		made[p.Result], taken[p.Input] = true, true
	}
	return errs
}

// RefuseInto is the error of a target that makes no results in inputs, nil where none is asked for.
func (o Options) RefuseInto(target string) error {
	if len(o.Into) == 0 {
		return nil
	}
	return diag.New(BadOption, "target "+target+" makes no results in the memory of inputs").
		WithHint("leave Into out and name the inputs in Donate, or compile for the cpu target")
}

// Given are the inputs whose memory a run may overwrite: those of Donate and of Into, in increasing order.
func (o Options) Given() []int {
	list := slices.Clone(o.Donate)
	for _, p := range o.Into {
		list = append(list, p.Input)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// CheckIntoTypes reports pairs of Into whose types differ, of a graph that Prepare has seen: a device has
// as much memory for a result as the input has.
func (o Options) CheckIntoTypes(g *graph.Graph) error {
	var errs diag.List
	for _, p := range o.Into {
		in, out := g.Inputs()[p.Input], g.Output().Arg(p.Result)
		if out == nil || in.Type().Same(out.Type()) {
			continue
		}
		errs = append(errs, g.Output().Error(BadOption, "result "+strconv.Itoa(p.Result)+" is "+out.Type().String()+", the input that it is to be made in, "+strconv.Quote(in.Name())+", is "+in.Type().String()).
			WithHint("name an input of the same type in Options.Into"))
	}
	return errs.Err()
}

// CheckUpdated reports what Run of a target with memory of its own cannot make results of Into in: an
// array that is missing, or shares memory with that of another input.
func (e *Entry) CheckUpdated(into []Into, in []*array.Array) error {
	for _, p := range into {
		why := ""
		switch {
		case in[p.Input] == nil:
			why = "is not given"
		case shared(in, p.Input):
			why = "shares memory with another input"
		}
		if why != "" {
			return diag.New(BadOutput, "the array of input "+strconv.Quote(e.Inputs[p.Input].Input)+", in which result "+strconv.Itoa(p.Result)+" is made, "+why).
				WithHint("give an array of its own")
		}
	}
	return nil
}

func shared(in []*array.Array, i int) bool {
	st := in[i].Storage()
	for k, a := range in {
		if k != i && a != nil && (a.Storage() == st || a.Storage().Overlaps(st)) {
			return true
		}
	}
	return false
}

// Update writes results that Run of such a target has fetched to the arrays of their inputs, once nothing can fail,
// and returns these in their place.
func (o Options) Update(in, out []*array.Array) {
	for _, p := range o.Into {
		array.Copy(in[p.Input], out[p.Result])
		in[p.Input].Storage().Bump()
		out[p.Result] = in[p.Input]
	}
}
