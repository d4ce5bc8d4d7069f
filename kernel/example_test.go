package kernel_test

import (
	"fmt"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
)

// A step is a plain struct. The caller makes the output; inputs may be strided.
func ExampleStep() {
	x := array.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	out := array.New(array.F32, 2, 2)
	var step kernel.Step = kernel.MatMul{}
	step.Run(&kernel.Workspace{}, []*array.Array{out}, []*array.Array{x, array.Permute(x, 1, 0)})
	fmt.Println(array.Data[float32](out))
	// Output: [5 11 11 25]
}

// A Viewer lays its result out over its operand, where that is possible.
func ExampleViewer() {
	x := array.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	view := array.New(array.F32, 0)
	ok := kernel.Permute{Dims: []int{1, 0}}.View([]*array.Array{view}, []*array.Array{x})
	fmt.Println(ok, view.Shape(), view.Storage() == x.Storage())
	// Output: true [3 2] true
}

// A workspace holds scratch memory and the number of threads. Released memory is
// used again, so that calls of known sizes allocate nothing.
func ExampleWorkspace() {
	w := &kernel.Workspace{Threads: 2}
	mark := w.Mark()
	buf := kernel.Scratch[float32](w, 100)
	fmt.Println(len(buf), w.HighWater() >= 100*4)
	w.Release(mark)
	again := kernel.Scratch[float32](w, 100)
	fmt.Println(&again[0] == &buf[0])
	// Output:
	// 100 true
	// true
}

// squares is work over an index range.
type squares struct{ out []int }

// Do handles the indices from lo up to, not including, hi.
func (j squares) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		j.out[i] = i * i
	}
}

// Parallel cuts a range into chunks of a fixed length, whatever the threads.
func ExampleWorkspace_Parallel() {
	w := &kernel.Workspace{Threads: 4}
	job := squares{make([]int, 10)}
	w.Parallel(10, 3, job)
	fmt.Println(job.out)
	// Output: [0 1 4 9 16 25 36 49 64 81]
}

// doubling adds to each number of a row the one that is 1, 2, 4, ... places before it.
type doubling struct{ rows [2][]int }

// Do computes the numbers of a part, four each, from the row that the last round has written.
func (j doubling) Do(round, part int) {
	from, to := j.rows[round%2], j.rows[1-round%2]
	for i := 4 * part; i < 4*part+4; i++ {
		to[i] = from[i]
		if before := i - 1<<round; before >= 0 {
			to[i] += from[before]
		}
	}
}

// Rounds computes parts at once, round by round.
func ExampleWorkspace_Rounds() {
	w := &kernel.Workspace{Threads: 2}
	job := doubling{[2][]int{{1, 1, 1, 1, 1, 1, 1, 1}, make([]int, 8)}}
	w.Rounds(3, 2, job)
	fmt.Println(job.rows[1])
	// Output: [1 2 3 4 5 6 7 8]
}

// A program is straight-line code over blocks of elements; package op/expr
// compiles them.
func ExampleElementwise() {
	f := array.F32
	step := kernel.Elementwise{Program: kernel.Program{
		Inputs: []array.DType{f, f}, Outputs: []array.DType{f}, Regs: [3]int{3, 0, 0},
		Code: []kernel.Instr{
			{Op: kernel.OpInput, DType: f, Dst: 0, Imm: 0},
			{Op: kernel.OpInput, DType: f, Dst: 1, Imm: 1},
			{Op: kernel.OpAdd, DType: f, Dst: 2, A: 0, B: 1},
			{Op: kernel.OpOutput, DType: f, A: 2, Imm: 0},
		},
	}}
	out := array.New(f, 2, 2)
	step.Run(&kernel.Workspace{}, []*array.Array{out},
		[]*array.Array{array.FromSlice([]float32{1, 2, 3, 4}, 2, 2), array.FromSlice([]float32{10, 20})})
	fmt.Println(array.Data[float32](out))
	// Output: [11 22 13 24]
}

// The results of a program can be reduced at once: here products, summed by rows.
func ExampleElementwiseReduce() {
	f := array.F32
	step := kernel.ElementwiseReduce{
		Program: kernel.Program{
			Inputs: []array.DType{f, f}, Outputs: []array.DType{f}, Regs: [3]int{3, 0, 0},
			Code: []kernel.Instr{
				{Op: kernel.OpInput, DType: f, Dst: 0, Imm: 0},
				{Op: kernel.OpInput, DType: f, Dst: 1, Imm: 1},
				{Op: kernel.OpMul, DType: f, Dst: 2, A: 0, B: 1},
				{Op: kernel.OpOutput, DType: f, A: 2, Imm: 0},
			},
		},
		Shape: []int{2, 3}, Kinds: []string{"sum"}, Dims: []int{1},
	}
	out := array.New(f, 2)
	step.Run(&kernel.Workspace{}, []*array.Array{out},
		[]*array.Array{array.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3), array.FromSlice([]float32{1, 10, 100})})
	fmt.Println(array.Data[float32](out))
	// Output: [321 654]
}

// Gemm adds to or sets c = a·b of row-major matrices.
func ExampleGemm() {
	a, b := []float32{1, 2, 3, 4}, []float32{1, 1, 0, 1}
	c := make([]float32, 4)
	kernel.Gemm(&kernel.Workspace{}, false, true, 2, 2, 2, a, 2, b, 2, c, 2, false)
	fmt.Println(c)
	// Output: [3 2 7 4]
}

// Random words depend on a counter and a key, and on nothing else.
func ExamplePhilox4x32() {
	words := kernel.Philox4x32([4]uint32{1}, [2]uint32{42, 0})
	u := kernel.UniformF32(words[0])
	x, y := kernel.NormalF32(words[1], words[2])
	fmt.Println(words == kernel.Philox4x32([4]uint32{1}, [2]uint32{42, 0}), u >= 0 && u < 1, x != y)
	// Output: true true true
}

func ExampleCodes() {
	for _, c := range kernel.Codes()[:3] {
		fmt.Println(c, c.Info().Arity)
	}
	// Output:
	// input 0
	// const 0
	// output 1
}

func ExampleRegClassOf() {
	fmt.Println(kernel.RegClassOf(array.F16) == kernel.RegF32, kernel.RegClassOf(array.Bool) == kernel.RegClassOf(array.I64))
	// Output: true true
}

// Sizes decide whether a plan that rounds operands to bf16 rounds those of a convolution: 1x1 windows are, filters of one
// channel are not, and neither are 3x3 windows where Winograd's algorithm in f32 takes less time.
func ExampleConvInBF16() {
	same := kernel.Conv{PadLo: []int{1, 1}, PadHi: []int{1, 1}}
	fmt.Println(kernel.ConvInBF16(kernel.Conv{}, []int{56, 56}, []int{64, 256, 1, 1}),
		kernel.ConvInBF16(kernel.Conv{Groups: 64}, []int{56, 56}, []int{64, 1, 3, 3}),
		kernel.ConvInBF16(same, []int{56, 56}, []int{64, 64, 3, 3}))
	// Output: true false false
}

// The ways of a convolution that a processor has; on one without assembly there is no choice.
func ExampleConvPacked() {
	s := kernel.ConvPacked{Conv: kernel.Conv{Groups: 1}, Channels: 32, Kernel: []int{1, 1}, In: []int{14, 14}}
	for i, w := range s.Ways([]int{1, 64, 14, 14}, []int{32, 64, 1, 1}) {
		if k := w.Step.(*kernel.ConvPacked); (k.Way == kernel.ConvBySizes) != (i == 0) || w.Cycles <= 0 {
			fmt.Println(w.Name, k.Way)
		}
	}
	s.Exact = true
	fmt.Println(len(s.Ways([]int{1, 64, 14, 14}, []int{32, 64, 1, 1})), kernel.ConvTiles4)
	// Output: 0 Tiles4
}

// What is measured on one machine holds for others of its name.
func ExampleMachine() {
	fmt.Println(strings.Contains(kernel.Machine(), kernel.CPU()))
	// Output: true
}
