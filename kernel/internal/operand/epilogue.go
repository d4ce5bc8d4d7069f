package operand

import "math"

// Activation is the function that an epilogue ends with.
type Activation uint8

// The activations. All of them keep NaN.
const (
	ActNone  Activation = iota
	ActReLU             // max(x, 0)
	ActReLU6            // min(max(x, 0), 6)
	ActClamp            // min(max(x, Lo), Hi)
)

// String returns the name, which the constant has behind Act.
func (a Activation) String() string { return [...]string{"None", "ReLU", "ReLU6", "Clamp"}[a] }

// Epilogue is what a step does to each sum before it is stored for good: times
// the scale of its channel, plus the bias of its channel, plus the residual,
// then the activation. Scale, bias and residual are operands of the step.
type Epilogue struct {
	Act    Activation
	Lo, Hi float32 // of ActClamp
}

// Bounds returns the interval that the activation clamps to.
func (e Epilogue) Bounds() (lo, hi float32) {
	inf := float32(math.Inf(1))
	switch e.Act {
	case ActReLU:
		return 0, inf
	case ActReLU6:
		return 0, 6
	case ActClamp:
		return e.Lo, e.Hi
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
