package nn_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

func ExampleNewCrossEntropyLoss() {
	logits := tensor.FromSlice([]float32{2, 0, -1, 0, 1, 0, 1, 1, 1}, 3, 3)
	labels := tensor.FromSlice([]int64{0, -100, 2}, 3) // the second one is ignored
	loss := nn.NewCrossEntropyLoss()
	fmt.Printf("%.4f\n", loss.Forward(logits, labels).Item())
	loss.LabelSmoothing = 0.1
	fmt.Printf("%.4f\n", loss.Forward(logits, labels).Item())
	fmt.Printf("%.4f\n", nn.NewNLLLoss().Forward(logits.LogSoftmax(1), labels).Item())
	// Output:
	// 0.6342
	// 0.7176
	// 0.6342
}

func ExampleNewBCEWithLogitsLoss() {
	x, yes := tensor.FromSlice([]float32{0, 3}), tensor.FromSlice([]float32{1, 0})
	fmt.Printf("%.4f %.4f\n", nn.NewBCEWithLogitsLoss().Forward(x, yes).Item(), nn.NewBCELoss().Forward(x.Sigmoid(), yes).Item())
	// Output:
	// 1.8709 1.8709
}

func ExampleNewMSELoss() {
	x, y := tensor.FromSlice([]float32{0, 3}), tensor.FromSlice([]float32{0.5, 0})
	for _, loss := range []interface {
		Forward(x, y *tensor.Tensor) *tensor.Tensor
	}{nn.NewMSELoss(), nn.NewL1Loss(), nn.NewHuberLoss(), nn.NewSmoothL1Loss()} {
		fmt.Printf("%.4f ", loss.Forward(x, y).Item())
	}
	// Output:
	// 4.6250 1.7500 1.3125 1.3125
}

func ExampleNewKLDivLoss() {
	p, q := tensor.FromSlice([]float32{0.5, 0.5}, 1, 2), tensor.FromSlice([]float32{0.25, 0.75}, 1, 2)
	loss := nn.NewKLDivLoss()
	loss.Reduction = nn.BatchMean
	fmt.Printf("%.4f\n", loss.Forward(q.Log(), p).Item())
	// Output:
	// 0.1438
}

func ExampleNewTripletMarginLoss() {
	a, near, far := tensor.FromSlice([]float32{0, 0}, 1, 2), tensor.FromSlice([]float32{1, 0}, 1, 2), tensor.FromSlice([]float32{0, 1.5}, 1, 2)
	fmt.Printf("%.3f\n", nn.NewTripletMarginLoss().Forward(a, near, far).Item())
	// Output:
	// 0.500
}

func ExampleNewCTCLoss() {
	logits := tensor.FromSlice([]float32{0, 3, 0, 3, 0, 0, 0, 0, 3}, 3, 1, 3) // three steps: class 1, blank, class 2
	labels := tensor.FromSlice([]int64{1, 2}, 1, 2)
	steps, counts := tensor.FromSlice([]int64{3}), tensor.FromSlice([]int64{2})
	loss := nn.NewCTCLoss()
	fmt.Printf("%.4f\n", loss.Forward(logits.LogSoftmax(2), labels, steps, counts).Item())
	// Output:
	// 0.0927
}

// A loss of the command line.
func ExampleParseLoss() {
	loss, err := nn.ParseLoss("huber(delta=2)")
	if err != nil {
		panic(err)
	}
	fmt.Println(loss.Forward(tensor.Scalar(float32(5)), tensor.Scalar(float32(0))).Item())
	// Output: 8
}
