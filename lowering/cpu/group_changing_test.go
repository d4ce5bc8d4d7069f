package cpu_test

// changing are goldens of products and convolutions by weights that are other ones in each run.
var changing = []golden{
	{"a weight that is computed, with all that may follow", `
graph net(%x: f32[N,4], %r: f32[N,8], %v: f32[4,8]) {
  symbol N = dim(%x, 0)
  %b = get_attr[b] : f32[8]
  %e = call_function[exp](%v) : f32[4,8]
  %c = call_function[matmul](%x, %e) : f32[N,8]
  %s = call_function[mul](%c, %b) : f32[N,8]
  %p = call_function[add](%s, %b) : f32[N,8]
  %a = call_function[add](%r, %p) : f32[N,8]
  %y = call_function[gelu](%a) : f32[N,8]
  return %y
}
param b : f32[8]
`, `0: e = Elementwise{exp} (v) # exp
1: y = LinearFused{Transposed: true, Program: {mul mul erf add mul}} (x, e, b, b, r) # matmul+mul+add+…+gelu`},
	{"a convolution by weights that change, and one that may go by transforms alone", `
graph net(%x: f32[N,16,9,9], %w: f32[16,16,3,3], %v: f32[16,16,1,1]) {
  symbol N = dim(%x, 0)
  %r = call_function[relu](%x) : f32[N,16,9,9]
  %c = call_function[conv2d](%r, %w) {padding=[1]} : f32[N,16,9,9]
  %d = call_function[conv2d](%c, %v) : f32[N,16,9,9]
  %e = call_function[conv2d](%d, %w) {stride=[2]} : f32[N,16,4,4]
  %y = call_function[relu](%e) : f32[N,16,4,4]
  return (%c, %y)
}
`, `0: c = ConvFused{Stride: [1 1], PadLo: [1 1], PadHi: [1 1], Dilation: [1 1], Groups: 1, In: [1 9 9], Prologue: {Act: ReLU}} (x, w) # relu+conv2d
1: d = Conv{Stride: [1 1], PadLo: [0 0], PadHi: [0 0], Dilation: [1 1], Groups: 1} (c, v) # conv2d
2: y = ConvFused{Stride: [2 2], PadLo: [0 0], PadHi: [0 0], Dilation: [1 1], Groups: 1, In: [1 9 9], Act: ReLU} (d, w) # conv2d+relu`},
	{"transposed convolutions by weights that change", `
graph net(%x: f32[4,16,9,9], %w: f32[16,16,3,3]) {
  %c = call_function[conv_transpose2d](%x, %w) {padding=[1]} : f32[4,16,9,9]
  %d = call_function[conv_transpose2d](%c, %w) {stride=[2]} : f32[4,16,19,19]
  return %d
}
`, `0: c = ConvTransposeFused{Stride: [1 1], Padding: [1 1], OutputPadding: [0 0], Dilation: [1 1], Groups: 1, In: [4 9 9]} (x, w) # conv_transpose2d
1: d = ConvTranspose{Stride: [2 2], Padding: [0 0], OutputPadding: [0 0], Dilation: [1 1], Groups: 1} (c, w) # conv_transpose2d`},
	{"gradients of weights, which may go by transforms for filters of 3x3 and stride 1", `
graph net(%x: f32[N,16,9,9], %g: f32[N,24,9,9], %s: f32[N,24,5,5]) {
  symbol N = dim(%x, 0)
  %a = call_function[conv2d_weight_grad](%x, %g) {kernel_size=[3], padding=[1]} : f32[24,16,3,3]
  %b = call_function[conv2d_weight_grad](%x, %g) {kernel_size=[3, 3], pad_mode="same"} : f32[24,16,3,3]
  %c = call_function[conv2d_weight_grad](%x, %s) {kernel_size=[3], stride=[2], padding=[1]} : f32[24,16,3,3]
  %d = call_function[conv2d_weight_grad](%x, %g) {kernel_size=[1]} : f32[24,16,1,1]
  return (%a, %b, %c, %d)
}
`, `0: a = ConvWeightGrad{Stride: [1 1], PadLo: [1 1], Dilation: [1 1], Groups: 1, Winograd: true} (x, g) # conv2d_weight_grad
1: b = ConvWeightGrad{Stride: [1 1], PadLo: [1 1], Dilation: [1 1], Groups: 1, Winograd: true} (x, g) # conv2d_weight_grad
2: c = ConvWeightGrad{Stride: [2 2], PadLo: [1 1], Dilation: [1 1], Groups: 1} (x, s) # conv2d_weight_grad
3: d = ConvWeightGrad{Stride: [1 1], PadLo: [0 0], Dilation: [1 1], Groups: 1} (x, g) # conv2d_weight_grad`},
	{"a weight that is written after all reads keeps what follows the product", `
graph net(%x: f32[8,4], %g: f32[8,4]) {
  %w = get_attr[w] : f32[8,4]
  %c = call_function[linear](%x, %w) : f32[8,8]
  %y = call_function[relu](%c) : f32[8,8]
  %n = call_function[sub](%w, %g) : f32[8,4]
  %u = call_function[assign](%w, %n) : f32[8,4]
  return %y
}
param w : f32[8,4]
`, `0: y = LinearFused{Act: ReLU} (x, w) # linear+relu
1: w = Elementwise{sub} (w, g) # sub`},
	{"a write between a product and what follows it keeps them apart", `
graph net(%x: f32[8,4], %g: f32[8,4]) {
  %w = get_attr[w] : f32[8,4]
  %c = call_function[linear](%x, %w) : f32[8,8]
  %u = call_function[assign](%w, %g) : f32[8,4]
  %y = call_function[relu](%c) : f32[8,8]
  return %y
}
param w : f32[8,4]
`, `0: c = Linear{} (x, w) # linear
1: w = Copy{} (g) # assign
2: y = Elementwise{max} (c) # relu`},
	{"a view of a weight that is written, which sees the write", `
graph net(%x: f32[8,4], %g: f32[4,4], %r: f32[8,4]) {
  %w = get_attr[w] : f32[4,4]
  %t = call_function[permute](%w) {dims=[1, 0]} : f32[4,4]
  %u = call_function[assign](%w, %g) : f32[4,4]
  %c = call_function[matmul](%x, %t) : f32[8,4]
  %y = call_function[add](%c, %r) : f32[8,4]
  return %y
}
param w : f32[4,4]
`, `0: t = view Permute{Dims: [1 0]} (w) # permute
1: w = Copy{} (g) # assign
2: y = LinearFused{Transposed: true} (x, t, _, _, r) # matmul+add`},
}
