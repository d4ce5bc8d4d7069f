package expr

import (
	"math"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
)

// order returns the nodes that outs need, operands first, each input and constant
// right before its first use so that registers live short.
func (b *Builder) order(outs []Value) []int32 {
	done := make([]bool, len(b.nodes))
	var list []int32
	var visit func(id int32)
	visit = func(id int32) {
		if id < 0 || done[id] {
			return
		}
		done[id] = true
		for _, a := range b.nodes[id].args {
			visit(a)
		}
		list = append(list, id)
	}
	for i, v := range outs {
		if v.b != b {
			panic(bug("output " + strconv.Itoa(i) + " belongs to another builder"))
		}
		visit(v.id)
	}
	return list
}

// Compile returns the program that computes outs, in their order. Equal
// expressions built in the same way give equal programs.
func (b *Builder) Compile(outs ...Value) kernel.Program {
	c := compiler{b: b, outs: outs, list: b.order(outs)}
	c.reg = make([]int32, len(b.nodes))
	c.last = make([]int, len(b.nodes))
	for at, id := range c.list {
		for _, a := range b.nodes[id].args {
			if a >= 0 {
				c.last[a] = at
			}
		}
	}
	for _, v := range outs {
		c.p.Outputs = append(c.p.Outputs, v.DType())
	}
	for _, id := range c.list {
		if b.nodes[id].code == kernel.OpConst {
			c.constant(id)
		}
	}
	for at, id := range c.list {
		c.emit(at, id)
	}
	for _, n := range c.p.Regs {
		if n > math.MaxUint16 {
			panic(bug("the expression needs more than 65535 registers"))
		}
	}
	return c.p
}

type compiler struct {
	b    *Builder
	outs []Value
	list []int32
	last []int   // position of the last use of each node, 0 when there is none
	reg  []int32 // register of each node
	free [3][]int32
	p    kernel.Program
}

// alloc takes the lowest free register, to keep the set in use small.
func (c *compiler) alloc(d array.DType) int32 {
	k := kernel.RegClassOf(d)
	if f := c.free[k]; len(f) > 0 {
		r := slices.Min(f)
		c.free[k] = slices.DeleteFunc(f, func(x int32) bool { return x == r })
		return r
	}
	c.p.Regs[k]++
	return int32(c.p.Regs[k] - 1)
}

func (c *compiler) release(id int32) {
	n := c.b.nodes[id]
	if n.code != kernel.OpConst {
		k := kernel.RegClassOf(n.d)
		c.free[k] = append(c.free[k], c.reg[id])
	}
}

func (c *compiler) constant(id int32) {
	n := c.b.nodes[id]
	c.reg[id] = c.alloc(n.d)
	c.p.Consts = append(c.p.Consts, kernel.Instr{Op: kernel.OpConst, DType: n.d, Dst: uint16(c.reg[id]), Imm: n.imm})
}

func (c *compiler) emit(at int, id int32) {
	entry := c.b.nodes[id]
	if entry.code != kernel.OpConst {
		in := kernel.Instr{Op: entry.code, DType: entry.d, Imm: entry.imm}
		if entry.code == kernel.OpInput {
			c.input(entry)
		}
		if entry.code == kernel.OpCast || entry.code.Info().ToBool {
			in.From = c.b.nodes[entry.args[0]].d
		}
		regs := [3]*uint16{&in.A, &in.B, &in.C}
		for i, a := range entry.args {
			if a < 0 {
				continue
			}
			*regs[i] = uint16(c.reg[a])
			if c.last[a] == at && !slices.Contains(entry.args[:i], a) {
				// Free before the result is placed: kernels read an element before they
				// write it, so that the result may take the operand's register.
				c.release(a)
			}
		}
		c.reg[id] = c.alloc(entry.d)
		in.Dst = uint16(c.reg[id])
		c.p.Code = append(c.p.Code, in)
	}
	for i, v := range c.outs {
		if v.id == id {
			c.p.Code = append(c.p.Code, kernel.Instr{Op: kernel.OpOutput, DType: entry.d, A: uint16(c.reg[id]), Imm: uint64(i)})
		}
	}
	if c.last[id] == 0 {
		c.release(id)
	}
}

func (c *compiler) input(n node) {
	i := int(n.imm)
	for len(c.p.Inputs) <= i {
		c.p.Inputs = append(c.p.Inputs, array.Invalid)
	}
	if had := c.p.Inputs[i]; had != array.Invalid && had != n.d {
		panic(bug("input " + strconv.Itoa(i) + " is used as " + had.String() + " and as " + n.d.String()))
	}
	c.p.Inputs[i] = n.d
}
