package expr

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
)

// Fold makes a T of each node of g, operands first, and returns those of g.Outs. of gets
// the node, its index, and what its operands have become.
func Fold[T any](g Graph, of func(i int, n Node, args []T) T) []T {
	made := make([]T, len(g.Nodes))
	for i, n := range g.Nodes {
		args := make([]T, len(n.Args))
		for k, a := range n.Args {
			args[k] = made[a]
		}
		made[i] = of(i, n, args)
	}
	outs := make([]T, len(g.Outs))
	for i, o := range g.Outs {
		outs[i] = made[o]
	}
	return outs
}

// Forms is a target's table of operations: the form in which the target writes each of
// them, usually a function that Fold calls. A new operation is one entry in it.
type Forms[F any] map[kernel.Code]F

// Of returns the form of an operation. It panics with a *diag.Error where the table has
// none, which a test of the table finds before that: see Lacking.
func (f Forms[F]) Of(code kernel.Code) F {
	form, ok := f[code]
	if !ok {
		panic(bug("the target's table has no form of " + code.String()).WithHint("add one to the table"))
	}
	return form
}

// Lacking returns the operations of graphs that have no form. OpOutput is none of them:
// only programs have it.
func (f Forms[F]) Lacking() (codes []kernel.Code) {
	for _, code := range kernel.Codes() {
		if _, ok := f[code]; !ok && code != kernel.OpOutput {
			codes = append(codes, code)
		}
	}
	return codes
}

// FromProgram returns the expression that a program computes: the inverse of
// Builder.Compile, except for the order of constants, which come first. It panics with a
// *diag.Error where the program is malformed or reads a register that nothing has written.
func FromProgram(p *kernel.Program) Graph {
	if err := p.Check(); err != nil {
		panic(err)
	}
	r := reader{g: Graph{Outs: make([]int, len(p.Outputs))}, at: map[register]int{}}
	for _, list := range [2][]kernel.Instr{p.Consts, p.Code} {
		for i := range list {
			r.read(&list[i])
		}
	}
	return r.g
}

// register is a place of the machine that runs programs.
type register struct {
	class kernel.RegClass
	index uint16
}

// reader makes nodes of instructions; at has the node whose value each register holds.
type reader struct {
	g  Graph
	at map[register]int
}

func (r *reader) read(in *kernel.Instr) {
	n := Node{Code: in.Op, DType: in.DType, Imm: in.Imm}
	from := in.From
	if from == array.Invalid {
		from = in.DType
	}
	operands := [3]uint16{in.A, in.B, in.C}
	for k, index := range operands[:in.Op.Info().Arity] {
		class := kernel.RegClassOf(from)
		if in.Op == kernel.OpSelect && k == 0 {
			class = kernel.RegI64 // the condition, a bool
		}
		a, ok := r.at[register{class, index}]
		if !ok {
			panic(bug("the program reads register " + strconv.Itoa(int(index)) + " in " + in.Op.String() + " before anything writes it").
				WithHint("compile the program with a Builder"))
		}
		n.Args = append(n.Args, a)
	}
	if in.Op == kernel.OpOutput {
		r.g.Outs[in.Imm] = n.Args[0]
		return
	}
	r.at[register{kernel.RegClassOf(in.DType), in.Dst}] = len(r.g.Nodes)
	r.g.Nodes = append(r.g.Nodes, n)
}
