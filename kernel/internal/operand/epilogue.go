package operand

import (
	"math"

	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Activation is the function that an epilogue clamps with.
//
//gofx:kernel
type Activation uint8

// The activations. All of them keep NaN.
//
//gofx:kernel
const (
	ActNone  Activation = iota
	ActReLU             // max(x, 0)
	ActReLU6            // min(max(x, 0), 6)
	ActClamp            // min(max(x, Lo), Hi)
)

// String returns the constant's name after Act.
func (a Activation) String() string { return [...]string{"None", "ReLU", "ReLU6", "Clamp"}[a] }

// Epilogue is applied to each sum before it is finally stored: times the scale of
// its channel, plus the bias of its channel, plus the residual, then the activation,
// then the program. Scale, bias and residual are operands of the step. All of it is
// computed in f32; results of 16 bits are rounded afterwards.
//
//gofx:kernel
type Epilogue struct {
	Act    Activation
	Lo, Hi float32 // of ActClamp
	// Program is any function of one f32, a *kernel.Program; nil for none. It gives the
	// bits that the same program gives in a step of its own.
	Program Function
}

// Function is a function of one f32. Families below the one that has programs
// know them by this alone, and a binary without such an epilogue links none.
type Function interface {
	// Map replaces the elements of a matrix, rows ld floats apart, by the function's
	// results. It may be called from several goroutines at once.
	Map(rows, cols int, c []float32, ld int)
	// MapAll is Map of elements side by side on the threads of w.
	MapAll(w *par.Workspace, c []float32)
}

// Prologue is applied to each element of a step's operand before it is read: times a
// factor of its channel, plus a term of its channel, then the activation. Factors and
// terms are operands of the step. Each operation rounds to f32.
//
//gofx:kernel
type Prologue struct {
	Act    Activation
	Lo, Hi float32 // of ActClamp
}

// Bounds returns the interval that the activation clamps to.
func (e Epilogue) Bounds() (lo, hi float32) { return e.Act.bounds(e.Lo, e.Hi) }

// Bounds returns the interval that the activation clamps to.
func (p Prologue) Bounds() (lo, hi float32) { return p.Act.bounds(p.Lo, p.Hi) }

func (a Activation) bounds(lo, hi float32) (float32, float32) {
	inf := float32(math.Inf(1))
	switch a {
	case ActReLU:
		return 0, inf
	case ActReLU6:
		return 0, 6
	case ActClamp:
		return lo, hi
	}
	return -inf, inf
}

// Span returns the first of n elements from i on, nil of no operand.
func Span(s []float32, i, n int) *float32 {
	if s == nil {
		return nil
	}
	return &s[i : i+n][0]
}
