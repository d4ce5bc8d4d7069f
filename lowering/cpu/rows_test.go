package cpu_test

// rowed are graphs with softmax and norms between elementwise calls, and of attention.
var rowed = []golden{
	{"heads side by side, of what is computed before", `
graph net(%x: f32[N,2,S,8], %k: f32[N,2,6,8], %m: bool[N,1,S,6]) {
  symbol N = dim(%x, 0)
  symbol S = dim(%x, 2)
  %q = call_function[exp](%x) : f32[N,2,S,8]
  %n = call_function[logical_not](%m) : bool[N,1,S,6]
  %a = call_function[scaled_dot_product_attention](%q, %k, %k, %n) {scale=0.5} : f32[N,2,S,8]
  %t = call_function[transpose](%a) {dim0=1, dim1=2} : f32[N,S,2,8]
  %y = call_function[flatten](%t) {start_dim=2, end_dim=-1} : f32[N,S,16]
  return %y
}
`, `0: q = Elementwise{exp} (x) # exp
1: n = Elementwise{not} (m) # logical_not
2: y = Attention{HasScale: true, Scale: 0.5, HeadsLast: true} (q, k, k, n) # scaled_dot_product_attention+transpose+flatten`},
	{"heads in another order, and queries that broadcast", `
graph net(%q: f32[N,2,6,8], %k: f32[N,2,6,8]) {
  symbol N = dim(%q, 0)
  %a = call_function[scaled_dot_product_attention](%q, %k, %k) : f32[N,2,6,8]
  %t = call_function[permute](%a) {dims=[0,2,3,1]} : f32[N,6,8,2]
  %r = call_function[reshape](%t) {shape=[N,6,16]} : f32[N,6,16]
  %s = call_function[select](%q) : f32[2,6,8]
  %b = call_function[scaled_dot_product_attention](%s, %k, %k) : f32[N,2,6,8]
  %u = call_function[permute](%b) {dims=[0,2,1,3]} : f32[N,6,2,8]
  %v = call_function[reshape](%u) {shape=[N,6,16]} : f32[N,6,16]
  return (%r, %v)
}
`, `0: a = Attention{} (q, k, k) # scaled_dot_product_attention
1: t = view Permute{Dims: [0 2 3 1]} (a) # permute
2: r = Reshape{} (t) # reshape
3: s = view Select{} (q) # select
4: b = Attention{} (s, k, k) # scaled_dot_product_attention
5: u = view Permute{Dims: [0 2 1 3]} (b) # permute
6: v = Reshape{} (u) # reshape`},
	{"heads that are read elsewhere, too", `
graph net(%q: f32[N,2,6,8], %k: f32[N,2,6,8]) {
  symbol N = dim(%q, 0)
  %a = call_function[scaled_dot_product_attention](%q, %k, %k) : f32[N,2,6,8]
  %t = call_function[permute](%a) {dims=[0,2,1,3]} : f32[N,6,2,8]
  %y = call_function[reshape](%t) {shape=[N,6,16]} : f32[N,6,16]
  return (%a, %y)
}
`, `0: a = Attention{} (q, k, k) # scaled_dot_product_attention
1: t = view Permute{Dims: [0 2 1 3]} (a) # permute
2: y = Reshape{} (t) # reshape`},
	{"softmax with a scale and a mask before, a cast behind", `
graph net(%x: f32[N,4,6], %m: f32[6]) {
  symbol N = dim(%x, 0)
  %s = call_function[mul](%x) {other=0.5} : f32[N,4,6]
  %a = call_function[add](%s, %m) : f32[N,4,6]
  %p = call_function[softmax](%a) {dim=-1} : f32[N,4,6]
  %y = call_function[cast](%p) {dtype=f16} : f16[N,4,6]
  return %y
}
`, `0: y = ElementwiseRows{Before: {mul add}, Kind: "softmax", After: {cast}} (x, m, _, _) # mul+add+softmax+cast`},
	{"a residual before a layer norm, what is read twice behind it", `
graph net(%x: f32[N,6], %r: f32[N,6]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[6]
  %a = call_function[add](%x, %r) : f32[N,6]
  %l = call_function[layer_norm](%a, %w, %w) {normalized_shape=[6], eps=1e-05} : f32[N,6]
  %e = call_function[sigmoid](%l) : f32[N,6]
  %y = call_function[mul](%l, %e) : f32[N,6]
  return %y
}
param w : f32[6]
`, `0: y = ElementwiseRows{Before: {add}, Kind: "layer_norm", Axes: 1, Eps: 1e-05, After: {sigmoid mul}} (x, r, w, w) # add+layer_norm+sigmoid+mul`},
	{"an operand behind a norm without weights, one that is computed between", `
graph net(%x: f32[N,6], %r: f32[N,6]) {
  symbol N = dim(%x, 0)
  %l = call_function[rms_norm](%x) {normalized_shape=[6], eps=1e-05} : f32[N,6]
  %e = call_function[exp](%r) : f32[N,6]
  %y = call_function[mul](%l, %e) : f32[N,6]
  return %y
}
`, `0: y = ElementwiseRows{Kind: "rms_norm", Axes: 1, Eps: 1e-05, After: {exp mul}} (x, _, _, r) # rms_norm+exp+mul`},
	{"groups of channels", `
graph net(%x: f32[N,4,3,3]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[4]
  %l = call_function[group_norm](%x, %w) {num_groups=2, eps=1e-05} : f32[N,4,3,3]
  %y = call_function[silu](%l) : f32[N,4,3,3]
  return %y
}
param w : f32[4]
`, `0: y = ElementwiseRows{Kind: "group_norm", Groups: 2, Eps: 1e-05, After: {sigmoid mul}} (x, w, _) # group_norm+silu`},
	{"one norm takes what is between two", `
graph net(%x: f32[N,6]) {
  symbol N = dim(%x, 0)
  %p = call_function[log_softmax](%x) {dim=1} : f32[N,6]
  %a = call_function[neg](%p) : f32[N,6]
  %y = call_function[softmax](%a) {dim=1} : f32[N,6]
  return %y
}
`, `0: a = ElementwiseRows{Kind: "log_softmax", After: {neg}} (x, _, _) # log_softmax+neg
1: y = Softmax{Dim: 1} (a) # softmax`},
	{"softmax over another dimension", `
graph net(%x: f32[N,6,4]) {
  symbol N = dim(%x, 0)
  %a = call_function[neg](%x) : f32[N,6,4]
  %y = call_function[softmax](%a) {dim=1} : f32[N,6,4]
  return %y
}
`, `0: a = Elementwise{neg} (x) # neg
1: y = Softmax{Dim: 1} (a) # softmax`},
	{"what is read elsewhere, too, before and behind", `
graph net(%x: f32[N,6]) {
  symbol N = dim(%x, 0)
  %a = call_function[neg](%x) : f32[N,6]
  %p = call_function[softmax](%a) {dim=1} : f32[N,6]
  %y = call_function[exp](%p) : f32[N,6]
  return (%a, %p, %y)
}
`, `0: a = Elementwise{neg} (x) # neg
1: p = Softmax{Dim: 1} (a) # softmax
2: y = Elementwise{exp} (p) # exp`},
	{"other sizes behind", `
graph net(%x: f32[1,6], %r: f32[N,6]) {
  symbol N = dim(%r, 0)
  %p = call_function[softmax](%x) {dim=1} : f32[1,6]
  %y = call_function[mul](%p, %r) : f32[N,6]
  return %y
}
`, `0: p = Softmax{Dim: 1} (x) # softmax
1: y = Elementwise{mul} (p, r) # mul`},
	{"16-bit rows", `
graph net(%x: f16[N,6]) {
  symbol N = dim(%x, 0)
  %a = call_function[neg](%x) : f16[N,6]
  %y = call_function[softmax](%a) {dim=1} : f16[N,6]
  return %y
}
`, `0: a = Elementwise{cast neg cast} (x) # neg
1: y = Softmax{Dim: 1} (a) # softmax`},
	{"rows that no cache holds", `
graph net(%x: f32[N,300000]) {
  symbol N = dim(%x, 0)
  %a = call_function[neg](%x) : f32[N,300000]
  %y = call_function[softmax](%a) {dim=1} : f32[N,300000]
  return %y
}
`, `0: a = Elementwise{neg} (x) # neg
1: y = Softmax{Dim: 1} (a) # softmax`},
	{"a norm that a reduction reads with what is behind it", `
graph net(%x: f32[N,6]) {
  symbol N = dim(%x, 0)
  %p = call_function[softmax](%x) {dim=1} : f32[N,6]
  %e = call_function[mul](%p, %p) : f32[N,6]
  %y = call_function[sum](%e) {dim=[1]} : f32[N]
  return %y
}
`, `0: p = Softmax{Dim: 1} (x) # softmax
1: y = ElementwiseReduce{mul Shape: [0 6], Kinds: ["sum"], Dims: [1]} with Shape[0] = N (p) # mul+sum`},
	{"a weight that is written between", `
graph net(%x: f32[4,6]) {
  %w = get_attr[w] : f32[6]
  %v = get_attr[v] : f32[6]
  %l = call_function[layer_norm](%x, %w) {normalized_shape=[6], eps=1e-05} : f32[4,6]
  %u = call_function[assign](%w, %v) : f32[6]
  %y = call_function[neg](%l) : f32[4,6]
  return %y
}
param w : f32[6]
param v : f32[6]
`, `0: l = LayerNorm{Axes: 1, Eps: 1e-05} (x, w) # layer_norm
1: w = Copy{} (v) # assign
2: y = Elementwise{neg} (l) # neg`},
}
