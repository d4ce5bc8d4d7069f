package cpu_test

// prologues are goldens of what precedes a convolution.
var prologues = []golden{
	{"a batch norm and relu before a convolution", `
graph net(%x: f32[N,4,6,6]) {
  symbol N = dim(%x, 0)
  %t = call_function[tanh](%x) : f32[N,4,6,6]
  %u = call_function[softmax](%t) {dim=1} : f32[N,4,6,6]
  %f = get_attr[f] : f32[4,1,1]
  %b = get_attr[b] : f32[4,1,1]
  %m = call_function[mul](%u, %f) : f32[N,4,6,6]
  %a = call_function[add](%b, %m) : f32[N,4,6,6]
  %r = call_function[relu](%a) : f32[N,4,6,6]
  %w = get_attr[w] : f32[8,4,1,1]
  %y = call_function[conv2d](%r, %w) : f32[N,8,6,6]
  return %y
}
param f : f32[4,1,1]
param b : f32[4,1,1]
param w : f32[8,4,1,1]
`, `0: t = Elementwise{tanh} (x) # tanh
1: u = Softmax{Dim: 1} (t) # softmax
2: y = ConvPacked{Stride: [1 1], PadLo: [0 0], PadHi: [0 0], Dilation: [1 1], Groups: 1, Channels: 8, Kernel: [1 1], In: [6 6], Prologue: {Act: ReLU}} (u, w, _, _, _, f, b) # mul+add+relu+conv2d`},
	{"squeeze and excite has a factor for each image", `
graph net(%x: f32[N,4,6,6], %s: f32[N,4,1,1]) {
  symbol N = dim(%x, 0)
  %m = call_function[mul](%s, %x) : f32[N,4,6,6]
  %w = get_attr[w] : f32[8,4,3,3]
  %c = call_function[conv2d](%m, %w) {padding=[1]} : f32[N,8,6,6]
  %y = call_function[relu](%c) : f32[N,8,6,6]
  return %y
}
param w : f32[8,4,3,3]
`, `0: y = ConvPacked{Stride: [1 1], PadLo: [1 1], PadHi: [1 1], Dilation: [1 1], Groups: 1, Channels: 8, Kernel: [3 3], In: [6 6], Act: ReLU} (x, w, _, _, _, s) # mul+conv2d+relu`},
	{"a clamp alone, behind what has two users", `
graph net(%x: f32[N,4,6,6]) {
  symbol N = dim(%x, 0)
  %t = call_function[tanh](%x) : f32[N,4,6,6]
  %r = call_function[hardtanh](%t) {min_val=-0.5, max_val=2} : f32[N,4,6,6]
  %w = get_attr[w] : f32[8,4,1,1]
  %y = call_function[conv2d](%r, %w) : f32[N,8,6,6]
  return (%y, %t)
}
param w : f32[8,4,1,1]
`, `0: t = Elementwise{tanh} (x) # tanh
1: y = ConvPacked{Stride: [1 1], PadLo: [0 0], PadHi: [0 0], Dilation: [1 1], Groups: 1, Channels: 8, Kernel: [1 1], In: [6 6], Prologue: {Act: Clamp, Lo: -0.5, Hi: 2}} (t, w) # hardtanh+conv2d`},
	{"of three calls in another order the last is a prologue", `
graph net(%x: f32[N,4,6,6]) {
  symbol N = dim(%x, 0)
  %f = get_attr[f] : f32[4,1,1]
  %r = call_function[relu](%x) : f32[N,4,6,6]
  %m = call_function[mul](%r, %f) : f32[N,4,6,6]
  %w = get_attr[w] : f32[8,4,1,1]
  %y = call_function[conv2d](%m, %w) : f32[N,8,6,6]
  return (%y, %r)
}
param f : f32[4,1,1]
param w : f32[8,4,1,1]
`, `0: r = Elementwise{max} (x) # relu
1: y = ConvPacked{Stride: [1 1], PadLo: [0 0], PadHi: [0 0], Dilation: [1 1], Groups: 1, Channels: 8, Kernel: [1 1], In: [6 6]} (r, w, _, _, _, f) # mul+conv2d`},
	{"elementwise calls before it are one step with it", `
graph net(%x: f32[N,4,6,6]) {
  symbol N = dim(%x, 0)
  %f = get_attr[f] : f32[4,1,1]
  %t = call_function[tanh](%x) : f32[N,4,6,6]
  %m = call_function[mul](%t, %f) : f32[N,4,6,6]
  %w = get_attr[w] : f32[8,4,1,1]
  %y = call_function[conv2d](%m, %w) : f32[N,8,6,6]
  return %y
}
param f : f32[4,1,1]
param w : f32[8,4,1,1]
`, `0: m = Elementwise{tanh mul} (x, f) # tanh+mul
1: y = ConvPacked{Stride: [1 1], PadLo: [0 0], PadHi: [0 0], Dilation: [1 1], Groups: 1, Channels: 8, Kernel: [1 1], In: [6 6]} (m, w) # conv2d`},
	{"what others read, too, is a step of its own", `
graph net(%x: f32[N,4,6,6]) {
  symbol N = dim(%x, 0)
  %r = call_function[relu](%x) : f32[N,4,6,6]
  %w = get_attr[w] : f32[8,4,1,1]
  %y = call_function[conv2d](%r, %w) : f32[N,8,6,6]
  return (%y, %r)
}
param w : f32[8,4,1,1]
`, `0: r = Elementwise{max} (x) # relu
1: y = ConvPacked{Stride: [1 1], PadLo: [0 0], PadHi: [0 0], Dilation: [1 1], Groups: 1, Channels: 8, Kernel: [1 1], In: [6 6]} (r, w) # conv2d`},
	{"factors that are none of channels", `
graph net(%x: f32[N,4,6,6]) {
  symbol N = dim(%x, 0)
  %f = get_attr[f] : f32[6]
  %m = call_function[mul](%x, %f) : f32[N,4,6,6]
  %w = get_attr[w] : f32[8,4,1,1]
  %y = call_function[conv2d](%m, %w) : f32[N,8,6,6]
  return %y
}
param f : f32[6]
param w : f32[8,4,1,1]
`, `0: m = Elementwise{mul} (x, f) # mul
1: y = ConvPacked{Stride: [1 1], PadLo: [0 0], PadHi: [0 0], Dilation: [1 1], Groups: 1, Channels: 8, Kernel: [1 1], In: [6 6]} (m, w) # conv2d`},
	{"a sum of two images", `
graph net(%x: f32[N,4,6,6], %z: f32[N,4,6,6]) {
  symbol N = dim(%x, 0)
  %m = call_function[add](%x, %z) : f32[N,4,6,6]
  %w = get_attr[w] : f32[8,4,1,1]
  %y = call_function[conv2d](%m, %w) : f32[N,8,6,6]
  return %y
}
param w : f32[8,4,1,1]
`, `0: m = Elementwise{add} (x, z) # add
1: y = ConvPacked{Stride: [1 1], PadLo: [0 0], PadHi: [0 0], Dilation: [1 1], Groups: 1, Channels: 8, Kernel: [1 1], In: [6 6]} (m, w) # conv2d`},
	{"halves are rounded before they are convolved", `
graph net(%x: f16[N,4,6,6]) {
  symbol N = dim(%x, 0)
  %m = call_function[relu](%x) : f16[N,4,6,6]
  %w = get_attr[w] : f16[8,4,1,1]
  %y = call_function[conv2d](%m, %w) : f16[N,8,6,6]
  return %y
}
param w : f16[8,4,1,1]
`, `0: m = Elementwise{cast max cast} (x) # relu
1: y = ConvPacked{Stride: [1 1], PadLo: [0 0], PadHi: [0 0], Dilation: [1 1], Groups: 1, Channels: 8, Kernel: [1 1], In: [6 6]} (m, w) # conv2d`},
}
