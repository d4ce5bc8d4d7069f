package toy

import (
	"fmt"
	"slices"
	"sync/atomic"
)

// unit is a part of the machine that computes.
type unit uint8

const (
	adder unit = iota
	subtracter
	multiplier
	maximum
	minimum
	negater
	rectifier
	products // rows of a times rows of b, plus c
)

// instruction makes register to from registers a, b and c. Without b the second operand is
// a number; -1 says that there is none.
type instruction struct {
	do      unit
	to      int
	a, b, c int
	number  float32
}

// register is a value in the machine's memory.
type register struct {
	dims []int
	data []float32
}

// Machine is the accelerator: a memory of its own, into which and out of which words are
// copied, units for vectors and one for products. It counts its work. Many programs may
// use one.
type Machine struct {
	resident, loaded, stored, executed atomic.Int64
}

// Counts is the work of a machine.
type Counts struct {
	Resident int64 // words of weights, copied once
	Loaded   int64 // words of operands
	Stored   int64 // words of results
	Executed int64 // instructions
}

// Counts returns the machine's work so far.
func (m *Machine) Counts() Counts {
	return Counts{m.resident.Load(), m.loaded.Load(), m.stored.Load(), m.executed.Load()}
}

// program is a program of the machine: registers 0 to inputs-1 are operands, weights lie
// in registers of their own.
type program struct {
	code      []instruction
	registers int
	weights   map[int]register
	results   []int
}

// run executes a program on operands and returns copies of its results.
func (m *Machine) run(p *program, operands []register) ([]register, error) {
	memory := make([]register, p.registers)
	for i, r := range operands {
		memory[i] = copied(r, &m.loaded)
	}
	for i, r := range p.weights {
		memory[i] = r
	}
	for _, in := range p.code {
		r, err := in.execute(memory)
		if err != nil {
			return nil, err
		}
		memory[in.to] = r
		m.executed.Add(1)
	}
	out := make([]register, len(p.results))
	for i, r := range p.results {
		out[i] = copied(memory[r], &m.stored)
	}
	return out, nil
}

// copied moves a value over the bus.
func copied(r register, words *atomic.Int64) register {
	words.Add(int64(len(r.data)))
	return register{slices.Clone(r.dims), slices.Clone(r.data)}
}

func (in instruction) execute(memory []register) (register, error) {
	a := memory[in.a]
	if in.do == products {
		return multiply(a, memory[in.b], in.c, memory)
	}
	out := register{a.dims, make([]float32, len(a.data))}
	b := []float32{in.number}
	step := 0 // one number for all
	if in.b >= 0 {
		if b, step = memory[in.b].data, 1; !slices.Equal(a.dims, memory[in.b].dims) {
			return out, fmt.Errorf("operands have sizes %v and %v, expected the same", a.dims, memory[in.b].dims)
		}
	}
	for i, x := range a.data {
		out.data[i] = scalar(in.do, x, b[i*step])
	}
	return out, nil
}

func scalar(do unit, x, y float32) float32 {
	switch do {
	case adder:
		return x + y
	case subtracter:
		return x - y
	case multiplier:
		return x * y
	case maximum:
		return max(x, y)
	case minimum:
		return min(x, y)
	case rectifier:
		return max(x, 0)
	}
	return -x
}

// multiply is the unit for products: x[...,k] and w[n,k] give [...,n].
func multiply(x, w register, bias int, memory []register) (register, error) {
	rows, k := w.dims[0], w.dims[1]
	if len(x.dims) == 0 || x.dims[len(x.dims)-1] != k {
		return x, fmt.Errorf("operand has sizes %v, expected %d columns", x.dims, k)
	}
	dims := slices.Clone(x.dims)
	dims[len(dims)-1] = rows
	count := 1
	for _, d := range dims[:len(dims)-1] {
		count *= d
	}
	out := register{dims, make([]float32, count*rows)}
	for i := range count {
		for j := range rows {
			var sum float32
			for l := range k {
				sum += float32(x.data[i*k+l] * w.data[j*k+l])
			}
			if bias >= 0 {
				sum += memory[bias].data[j]
			}
			out.data[i*rows+j] = sum
		}
	}
	return out, nil
}
