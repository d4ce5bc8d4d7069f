package program

import (
	"fmt"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/opcode"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/vmath"
)

// chain is the elementwise benchmark of lazy systems: ops operations over nine
// square inputs, add mul div add sub mul div add, again and again.
func chain(ops int) Program {
	p := Program{Outputs: []array.DType{array.F32}, Regs: [3]int{10, 0, 0}}
	for i := range 9 {
		p.Inputs = append(p.Inputs, array.F32)
		p.Code = append(p.Code, Instr{Op: opcode.OpInput, DType: array.F32, Dst: uint16(i), Imm: uint64(i)})
	}
	cycle := []opcode.Code{opcode.OpAdd, opcode.OpMul, opcode.OpDiv, opcode.OpAdd, opcode.OpSub, opcode.OpMul, opcode.OpDiv, opcode.OpAdd}
	at := uint16(0)
	for k := range ops {
		p.Code = append(p.Code, Instr{Op: cycle[k%8], DType: array.F32, Dst: 9, A: at, B: uint16(1 + k%8)})
		at = 9
	}
	p.Code = append(p.Code, Instr{Op: opcode.OpOutput, DType: array.F32, A: 9})
	return p
}

func BenchmarkVecChain(b *testing.B) {
	for _, n := range []int{100, 1000, 4000} {
		for _, ops := range []int{8, 16, 32} {
			if n == 4000 && ops > 8 {
				continue
			}
			p := chain(ops)
			b.Run(fmt.Sprintf("n%d/ops%d", n, ops), func(b *testing.B) {
				var in []*array.Array
				for range 9 {
					in = append(in, kerneltest.Ones(n, n))
				}
				out := []*array.Array{kerneltest.Ones(n, n)}
				kerneltest.BenchLevels(b, func(b *testing.B, level cpu.Level) {
					w := &par.Workspace{}
					for b.Loop() {
						p.run(level, w, wholeOut(out), in, 0, n*n)
					}
					kerneltest.PerElement(b, n*n)
				})
			})
		}
	}
}

func BenchmarkVecFunction(b *testing.B) {
	for op := range opcode.Count {
		if vmath.FunctionSteps[op] == 0 {
			continue
		}
		b.Run(op.String(), func(b *testing.B) {
			x, y := make([]float32, 4096), make([]float32, 4096)
			for i := range x {
				x[i] = float32(i%64)/8 + 0.1
			}
			kerneltest.BenchLevels(b, func(b *testing.B, level cpu.Level) {
				for b.Loop() {
					vmath.ApplyFunction(level, op, y, x)
				}
				kerneltest.PerElement(b, len(x))
			})
		})
	}
}

// BenchmarkVecRandom draws uniform numbers by a key and the index: integers of 32 bits, most of them products.
func BenchmarkVecRandom(b *testing.B) {
	const n = 1 << 16
	p := uniform()
	in := []*array.Array{array.FromSlice([]uint64{1<<40 + 5}, 1)}
	out := []*array.Array{array.New(array.F32, n)}
	kerneltest.BenchLevels(b, func(b *testing.B, level cpu.Level) {
		w := &par.Workspace{}
		for b.Loop() {
			p.run(level, w, wholeOut(out), in, 0, n)
		}
		kerneltest.PerElement(b, n)
	})
}
