package cpu_test

// refused are graphs with calls that look like a part of a group and are not taken for
// it, one for each reason that no other list has.
var refused = []golden{
	{"a product in f64 has no packed kernel", `
graph net(%x: f64[N,4]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f64[8,4]
  %y = call_function[linear](%x, %w) : f64[N,8]
  return %y
}
param w : f64[8,4]
`, `0: y = Linear{} (x, w) # linear`},
	{"weights of several products are not packed", `
graph net(%x: f32[N,2,4]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[2,4,3]
  %p = call_function[permute](%x) {dims=[1,0,2]} : f32[2,N,4]
  %y = call_function[matmul](%p, %w) : f32[2,N,3]
  return %y
}
param w : f32[2,4,3]
`, `0: p = view Permute{Dims: [1 0 2]} (x) # permute
1: y = MatMul{} (p, w) # matmul`},
	{"a convolution whose weight has its axes exchanged", `
graph net(%x: f32[N,4,6]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[4,8,1]
  %t = call_function[transpose](%w) {dim0=0, dim1=1} : f32[8,4,1]
  %y = call_function[conv1d](%x, %t) : f32[N,8,6]
  return %y
}
param w : f32[4,8,1]
`, `0: t = view Permute{Dims: [1 0 2]} (w) # transpose
1: y = Conv{Stride: [1], PadLo: [0], PadHi: [0], Dilation: [1], Groups: 1} (x, t) # conv1d`},
	{"a sum that two read", `
graph net(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[8,4]
  %c = call_function[linear](%x, %w) : f32[N,8]
  %y = call_function[relu](%c) : f32[N,8]
  return (%c, %y)
}
param w : f32[8,4]
`, `0: c = LinearPacked{Features: 8} (x, w) # linear
1: y = Elementwise{max} (c) # relu`},
	{"an effect between a sum and what follows it", `
graph net(%x: f32[8,4]) {
  %w = get_attr[w] : f32[8,4]
  %s = get_attr[s] : f32[8]
  %v = get_attr[v] : f32[8]
  %c = call_function[linear](%x, %w) : f32[8,8]
  %u = call_function[assign](%s, %v) : f32[8]
  %y = call_function[relu](%c) : f32[8,8]
  return %y
}
param w : f32[8,4]
param s : f32[8]
param v : f32[8]
`, `0: c = LinearPacked{Features: 8} (x, w) # linear
1: s = Copy{} (v) # assign
2: y = Elementwise{max} (c) # relu`},
	{"a scale behind a bias", `
graph net(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[8,4]
  %b = get_attr[b] : f32[8]
  %c = call_function[linear](%x, %w, %b) : f32[N,8]
  %y = call_function[mul](%c, %b) : f32[N,8]
  return %y
}
param w : f32[8,4]
param b : f32[8]
`, `0: c = LinearPacked{Features: 8} (x, w, b) # linear
1: y = Elementwise{mul} (c, b) # mul`},
	{"a scale of another axis", `
graph net(%x: f32[N,4], %r: f32[N,1]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[8,4]
  %c = call_function[linear](%x, %w) : f32[N,8]
  %y = call_function[mul](%c, %r) : f32[N,8]
  return %y
}
param w : f32[8,4]
`, `0: c = LinearPacked{Features: 8} (x, w) # linear
1: y = Elementwise{mul} (c, r) # mul`},
	{"a second residual", `
graph net(%x: f32[N,4], %r: f32[N,8], %s: f32[N,8]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[8,4]
  %c = call_function[linear](%x, %w) : f32[N,8]
  %p = call_function[add](%c, %r) : f32[N,8]
  %y = call_function[add](%p, %s) : f32[N,8]
  return %y
}
param w : f32[8,4]
`, `0: p = LinearPacked{Features: 8} (x, w, _, _, r) # linear+add
1: y = Elementwise{add} (p, s) # add`},
	{"a residual that is larger", `
graph net(%x: f32[1,4], %r: f32[N,8]) {
  symbol N = dim(%r, 0)
  %w = get_attr[w] : f32[8,4]
  %c = call_function[linear](%x, %w) : f32[1,8]
  %y = call_function[add](%c, %r) : f32[N,8]
  return %y
}
param w : f32[8,4]
`, `0: c = LinearPacked{Features: 8} (x, w) # linear
1: y = Elementwise{add} (c, r) # add`},
	{"a function of two more operands", `
graph net(%x: f32[N,4], %r: f32[N,8], %s: f32[N,8]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[8,4]
  %c = call_function[linear](%x, %w) : f32[N,8]
  %y = call_function[addcmul](%c, %r, %s) : f32[N,8]
  return %y
}
param w : f32[8,4]
`, `0: c = LinearPacked{Features: 8} (x, w) # linear
1: y = Elementwise{mul add} (c, r, s) # addcmul`},
	{"a sum with itself is no residual", `
graph net(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[8,4]
  %c = call_function[linear](%x, %w) : f32[N,8]
  %y = call_function[add](%c, %c) : f32[N,8]
  return %y
}
param w : f32[8,4]
`, `0: y = LinearPacked{Features: 8, Program: {add}} (x, w) # linear+add`},
	{"a bias of another type", `
graph net(%x: f32[N,4], %b: i64[8]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[8,4]
  %c = call_function[linear](%x, %w) : f32[N,8]
  %y = call_function[add](%c, %b) : f32[N,8]
  return %y
}
param w : f32[8,4]
`, `0: c = LinearPacked{Features: 8} (x, w) # linear
1: y = Elementwise{cast add} (c, b) # add`},
	{"a second clamp is no activation", `
graph net(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[8,4]
  %c = call_function[linear](%x, %w) : f32[N,8]
  %r = call_function[relu](%c) : f32[N,8]
  %y = call_function[clamp](%r) {max=0.5} : f32[N,8]
  return %y
}
param w : f32[8,4]
`, `0: y = LinearPacked{Features: 8, Act: ReLU, Program: {min}} (x, w) # linear+relu+clamp`},
	{"elements that groups of two users read", `
graph net(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %e = call_function[exp](%x) : f32[N,4]
  %s = call_function[cumsum](%e) {dim=1} : f32[N,4]
  %y = call_function[mul](%s, %e) : f32[N,4]
  return %y
}
`, `0: e = Elementwise{exp} (x) # exp
1: s = Scan{Kind: "cumsum", Dim: 1} (e) # cumsum
2: y = Elementwise{mul} (s, e) # mul`},
	{"a reduction of what is read elsewhere, too", `
graph net(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %e = call_function[exp](%x) : f32[N,4]
  %y = call_function[sum](%e) {dim=[1]} : f32[N]
  return (%e, %y)
}
`, `0: e = Elementwise{exp} (x) # exp
1: y = Reduce{Kind: "sum", Dims: [1]} (e) # sum`},
	{"a reduction behind an effect", `
graph net(%x: f32[4]) {
  %s = get_attr[s] : f32[4]
  %a = call_function[neg](%s) : f32[4]
  %u = call_function[assign](%s, %x) : f32[4]
  %y = call_function[sum](%a) : f32[]
  return %y
}
param s : f32[4]
`, `0: a = Elementwise{neg} (s) # neg
1: s = Copy{} (x) # assign
2: y = Reduce{Kind: "sum", Dims: [0]} (a) # sum`},
}
