package kernelstyle

import (
	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/kernel"
)

// scratch prints the function that finds the scratch memory which the steps need
// for the sizes that have been laid out. It asks each kernel, with headers of its
// operands; steps whose needs cannot differ are asked once.
type scratch struct {
	*pkg
	maker  map[int]int  // the step of a view
	viewed map[int]bool // steps
	lines  []jen.Code
}

// printScratch finds which steps make views, and then asks in the order of the
// plan; a view is laid out before the first question that mentions it.
func printScratch(whole *pkg, files *goFiles) {
	asks := &scratch{pkg: whole, maker: map[int]int{}, viewed: map[int]bool{}}
	for i := range whole.Steps {
		if s := &whole.Steps[i]; s.View {
			for _, k := range s.Out {
				asks.maker[k] = i
			}
		}
	}
	asked := map[string]bool{}
	for i := range whole.Steps {
		s := &whole.Steps[i]
		if f := whole.flows[i]; f != nil {
			asks.ahead(f)
		}
		if _, ok := s.Kernel.(kernel.Scratcher); ok && !s.View && !s.Joined && !whole.findsSizes(s) {
			key := asks.key(i)
			if !asked[key] {
				asks.ask(i)
			}
			asked[key] = true
		}
	}
	name := whole.prefix + "Scratch"
	files.function(asks.lines, func(i int) (string, *jen.Statement) {
		return numbered(name, i) + " finds the scratch memory that the steps need.", whole.computeFunc(numbered(name, i))
	}, func(i int) jen.Code { return computeCall(numbered(name, i)) })
}

// key is equal for steps of one kernel with operands of equal layout.
func (a *scratch) key(step int) string {
	key := a.kernels.steps[step].key
	for _, list := range [2][]int{a.Steps[step].Out, a.Steps[step].In} {
		for _, k := range list {
			key += " " + a.describe(k)
		}
	}
	return key
}

// describe returns a text that is equal for operands of equal layout.
func (a *scratch) describe(k int) string {
	if k < 0 {
		return "nil"
	}
	text := a.Buffers[k].Type.String()
	if i, ok := a.maker[k]; ok {
		text += " " + a.kernels.steps[i].key + "("
		for _, in := range a.Steps[i].In {
			text += a.describe(in) + ","
		}
		text += ")"
	}
	return text
}

// ask prints the question for one step, after the layout of its views.
func (a *scratch) ask(step int) {
	s := &a.Steps[step]
	for _, list := range [2][]int{s.Out, s.In} {
		for _, k := range list {
			a.view(k)
		}
	}
	out, in := operands(s, a.refs)
	bytes := jen.Add(a.kernels.steps[step].expr).Dot("ScratchBytes").Call(out, in)
	a.lines = append(a.lines, jen.Id("s").Dot("Need").Call(bytes))
}

// view lays out a value that is a view, and those that it is a view of.
func (a *scratch) view(k int) {
	i, ok := a.maker[k]
	if k < 0 || !ok || a.viewed[i] {
		return
	}
	a.viewed[i] = true
	for _, in := range a.Steps[i].In {
		a.view(in)
	}
	a.lines = append(a.lines, a.layView(i))
}

// layView prints how the result of a view step is laid out, before there is any
// memory.
func (a *scratch) layView(step int) *jen.Statement {
	s := &a.Steps[step]
	if _, partial := s.Kernel.(kernel.PartialViewer); !partial {
		return a.statement(step, a.stepName(step), a.refs)
	}
	out, in := operands(s, a.refs)
	return jen.Id("s").Dot("ViewOrDense").Call(a.kernels.steps[step].expr, out, in)
}
