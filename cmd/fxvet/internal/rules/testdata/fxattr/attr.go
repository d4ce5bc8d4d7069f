package fxattr

import "github.com/gofx-dev/gofx/tensor"

const none = 0

func f(x, w *tensor.Tensor, n int, s string, k int32, v any) {
	x.MaxPool2d(0)                                                 // want `FX2005: attribute out of its range: `
	tensor.MaxPool2d(x, none)                                      // want `FX2005`
	x.Conv2d(w, nil, tensor.ConvAttrs{Stride: tensor.Ints(-1, 1)}) // want `FX2005`
	x.Gelu(tensor.GeluAttrs{}, tensor.GeluAttrs{})                 // want `FX2005: .*2 option structs`
	tensor.Linear(x, nil, nil)                                     // want `FX2006`
	x.Matmul(nil)                                                  // want `FX2006`
	x.Reshape("2", 3)                                              // want `FX2025`
	x.Reshape(s, n)                                                // want `FX2025`
	x.Reshape(2.5)                                                 // want `FX2025`

	x.MaxPool2d(2)
	x.MaxPool2d(n)
	x.Reshape(n, -1)
	x.Reshape(x.Size(0), -1)
	x.Reshape(v)
	x.Reshape([]int{2, 3})
	x.Reshape(0, 3)
	x.Linear(w, nil)
	x.Conv2d(w, nil, tensor.ConvAttrs{Stride: tensor.Ints(n)})
	x.Conv2d(w, nil, tensor.ConvAttrs{Stride: tensor.Ints(2)})
	x.Clamp(nil, 3)
	x.Sum(-1)
	x.Softmax(7)
	x.Gelu()
	x.MulScalar(n)
}
