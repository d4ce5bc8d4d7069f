package cpu_test

// programs are goldens of what follows a contraction and does not clamp.
var programs = []golden{
	{"silu, of its two calls, ends an epilogue", `
graph net(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[8,4]
  %c = call_function[linear](%x, %w) : f32[N,8]
  %s = call_function[sigmoid](%c) : f32[N,8]
  %y = call_function[mul](%c, %s) : f32[N,8]
  return %y
}
param w : f32[8,4]
`, `0: y = LinearPacked{Features: 8, Program: {sigmoid mul}} (x, w) # linear+sigmoid+mul`},
	{"gelu behind a residual", `
graph net(%x: f32[N,4], %r: f32[N,8]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[8,4]
  %b = get_attr[b] : f32[8]
  %c = call_function[linear](%x, %w, %b) : f32[N,8]
  %a = call_function[add](%r, %c) : f32[N,8]
  %y = call_function[gelu](%a) : f32[N,8]
  return %y
}
param w : f32[8,4]
param b : f32[8]
`, `0: y = LinearPacked{Features: 8, Program: {mul mul erf add mul}} (x, w, b, _, r) # linear+add+gelu`},
	{"hardswish, by its name and by its parts, after a clamp", `
graph net(%x: f32[N,4,6,6]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[8,4,3,3]
  %c = call_function[conv2d](%x, %w) {padding=[1]} : f32[N,8,6,6]
  %h = call_function[hardswish](%c) : f32[N,8,6,6]
  %v = get_attr[v] : f32[4,8,1,1]
  %d = call_function[conv2d](%h, %v) : f32[N,4,6,6]
  %r = call_function[relu](%d) : f32[N,4,6,6]
  %s = call_function[hardsigmoid](%r) : f32[N,4,6,6]
  %y = call_function[mul](%r, %s) : f32[N,4,6,6]
  return %y
}
param w : f32[8,4,3,3]
param v : f32[4,8,1,1]
`, `0: h = ConvPacked{Stride: [1 1], PadLo: [1 1], PadHi: [1 1], Dilation: [1 1], Groups: 1, Channels: 8, Kernel: [3 3], In: [6 6], Program: {add max min mul div}} (x, w) # conv2d+hardswish
1: y = ConvPacked{Stride: [1 1], PadLo: [0 0], PadHi: [0 0], Dilation: [1 1], Groups: 1, Channels: 4, Kernel: [1 1], In: [6 6], Act: ReLU, Program: {add max min div mul}} (h, v) # conv2d+relu+hardsigmoid+mul`},
	{"a user's operator, of which more than one result is used", `
graph net(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[8,4]
  %c = call_function[linear](%x, %w) : f32[N,8]
  %a = call_function[group_bump](%c) : f32[N,8]
  %b = call_function[exp](%a) : f32[N,8]
  %d = call_function[neg](%a) : f32[N,8]
  return (%b, %d)
}
param w : f32[8,4]
`, `0: a = LinearPacked{Features: 8, Program: {mul add reciprocal}} (x, w) # linear+group_bump
1: b = Elementwise{exp} (a) # exp
2: d = Elementwise{neg} (a) # neg`},
	{"what is used in between is no part of a program", `
graph net(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[8,4]
  %c = call_function[linear](%x, %w) : f32[N,8]
  %s = call_function[sigmoid](%c) : f32[N,8]
  %y = call_function[mul](%c, %s) : f32[N,8]
  return (%c, %y)
}
param w : f32[8,4]
`, `0: c = LinearPacked{Features: 8} (x, w) # linear
1: y = Elementwise{sigmoid mul} (c) # sigmoid+mul`},
	{"a program that asks where an element is", `
graph net(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[8,4]
  %c = call_function[linear](%x, %w) : f32[N,8]
  %y = call_function[tril](%c) : f32[N,8]
  return %y
}
param w : f32[8,4]
`, `0: c = LinearPacked{Features: 8} (x, w) # linear
1: y = Elementwise{coord coord sub le select} (c) # tril`},
	{"a result of another type", `
graph net(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[8,4]
  %c = call_function[linear](%x, %w) : f32[N,8]
  %y = call_function[isnan](%c) : bool[N,8]
  return %y
}
param w : f32[8,4]
`, `0: c = LinearPacked{Features: 8} (x, w) # linear
1: y = Elementwise{isnan} (c) # isnan`},
	{"what goes on with other operands is one step behind", `
graph net(%x: f32[N,4], %r: f32[N,8]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[8,4]
  %c = call_function[linear](%x, %w) : f32[N,8]
  %t = call_function[tanh](%c) : f32[N,8]
  %y = call_function[add](%t, %r) : f32[N,8]
  return %y
}
param w : f32[8,4]
`, `0: c = LinearPacked{Features: 8} (x, w) # linear
1: y = Elementwise{tanh add} (c, r) # tanh+add`},
	{"what is reduced is one step behind", `
graph net(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[8,4]
  %c = call_function[linear](%x, %w) : f32[N,8]
  %t = call_function[tanh](%c) : f32[N,8]
  %y = call_function[sum](%t) {dim=[1]} : f32[N]
  return %y
}
param w : f32[8,4]
`, `0: c = LinearPacked{Features: 8} (x, w) # linear
1: y = ElementwiseReduce{tanh Shape: [0 8], Kinds: ["sum"], Dims: [1]} with Shape[0] = N (c) # tanh+sum`},
}
