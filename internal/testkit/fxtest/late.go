package fxtest

import "github.com/gofx-dev/gofx/array"

// LateGraphs have sizes that follow from values. Each takes a f32[N,3].
var LateGraphs = map[string]string{
	"a result as it is found, twice": `
graph g(%x: f32[N,3]) {
  symbol N = dim(%x, 0)
  %i = call_function[nonzero](%x)
  return (%i, %x, %i)
}`,
	"weights behind": `
graph g(%x: f32[N,3]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[4,3]
  %i = call_function[nonzero](%x)
  %r = call_function[select](%i) {dim=1, index=0}
  %h = call_function[linear](%x, %w)
  %rows = call_function[index_select](%x, %r) {dim=0}
  %y = call_function[linear](%rows, %w)
  %a = call_function[relu](%y)
  %b = call_function[sum](%a)
  return (%a, %h, %b)
}
param w : f32[4,3]`,
	"a symbol of the result": `
graph g(%x: f32[N,3]) {
  symbol N = dim(%x, 0)
  %i = call_function[nonzero](%x) : i64[K,2]
  symbol K = dim(%i, 0)
  %k = call_function[dim](%i) {axis=0}
  %n = call_function[dim](%x) {axis=0}
  %f = call_function[full]() {size=[K,N], value=2, dtype=f32}
  %e = call_function[reshape](%i) {shape=[2*K]}
  return (%f, %e, %k, %n)
}`,
	"stages": `
graph g(%x: f32[N,3]) {
  symbol N = dim(%x, 0)
  %i = call_function[nonzero](%x)
  %r = call_function[select](%i) {dim=1, index=0}
  %u = call_function[unique](%r) {flat=true}
  %v = call_function[getitem](%u) {index=0}
  %c = call_function[getitem](%u) {index=3}
  %inv = call_function[getitem](%u) {index=2}
  %p = call_function[unique](%x) {dim=1}
  %p0 = call_function[getitem](%p) {index=0}
  %rows = call_function[index_select](%x, %v) {dim=0}
  %s = call_function[nonzero](%rows)
  %j = call_function[neg](%c)
  return (%s, %rows, %v, %j, %inv, %p0, %p0)
}`,
	"a branch that finds sizes": `
graph g(%x: f32[N,3]) {
  symbol N = dim(%x, 0)
  %s = call_function[sum](%x) : f32[]
  %t = call_function[full]() {size=[], value=6, dtype=f32} : f32[]
  %big = call_function[gt](%s, %t) : bool[]
  %c = call_function[cond](%big, %x) : (f32[?,3], f32[3], i64[?]) {
    region yes(%a: f32[N,3]) {
      %i = call_function[nonzero](%a) : i64[?,2]
      %r = call_function[select](%i) {dim=1, index=0} : i64[?]
      %rows = call_function[index_select](%a, %r) {dim=0} : f32[?,3]
      %q = call_function[sum](%rows) {dim=[0]} : f32[3]
      return (%rows, %q, %r)
    }
    region no(%a: f32[N,3]) {
      %q = call_function[sum](%a) {dim=[0]} : f32[3]
      %none = call_function[full]() {size=[2], value=1, dtype=i64} : i64[2]
      return (%a, %q, %none)
    }
  }
  %c0 = call_function[getitem](%c) {index=0} : f32[?,3]
  %c1 = call_function[getitem](%c) {index=1} : f32[3]
  %c2 = call_function[getitem](%c) {index=2} : i64[?]
  %y = call_function[relu](%c0)
  %z = call_function[add](%y, %c1)
  %i = call_function[nonzero](%z)
  return (%c0, %z, %i, %c1, %c2, %c0)
}`,
	"a branch that relies on sums of sizes": `
graph g(%x: f32[N,3]) {
  symbol N = dim(%x, 0)
  %i = call_function[nonzero](%x) : i64[K,2]
  symbol K = dim(%i, 0)
  %y = call_function[neg](%x) : f32[N,3]
  %j = call_function[nonzero](%y) : i64[L,2]
  symbol L = dim(%j, 0)
  %z = call_function[relu](%x) : f32[N,3]
  %p = call_function[nonzero](%z) : i64[M,2]
  symbol M = dim(%p, 0)
  %ij = call_function[cat](%i, %j) : i64[K+L,2]
  %ip = call_function[cat](%i, %p) : i64[K+M,2]
  %a = call_function[amin](%x) : f32[]
  %o = call_function[full]() {size=[], value=0, dtype=f32} : f32[]
  %same = call_function[ge](%a, %o) : bool[]
  %c = call_function[cond](%same, %ij, %ip) : (i64[?,2]) {
    region yes(%u: i64[K+L,2], %v: i64[K+M,2]) {
      %d = call_function[add](%u, %v) : i64[K+L,2]
      guard K+L == K+M from %d
      %m = call_function[amax](%d) {dim=[1]} : i64[K+L]
      %n = call_function[nonzero](%m) : i64[?,1]
      %two = call_function[cat](%n, %n) {dim=1} : i64[?,2]
      return (%two)
    }
    region no(%u: i64[K+L,2], %v: i64[K+M,2]) {
      return (%v)
    }
  }
  %c0 = call_function[getitem](%c) {index=0} : i64[?,2]
  %r = call_function[neg](%c0)
  %s = call_function[full]() {size=[K+M], value=2, dtype=f32}
  return (%c0, %r, %s)
}`,
	"one size of two names": `
graph g(%x: f32[N,3]) {
  symbol N = dim(%x, 0)
  %i = call_function[nonzero](%x) : i64[K,2]
  symbol K = dim(%i, 0)
  symbol L = dim(%i, 0)
  guard K == L
  %a = call_function[full]() {size=[K], value=2, dtype=f32}
  %b = call_function[full]() {size=[L], value=3, dtype=f32}
  %y = call_function[stack](%a, %b)
  return (%y)
}`,
	"a scan over a range": `
graph g(%x: f32[N,3]) {
  symbol N = dim(%x, 0)
  %zero = call_function[full]() {size=[], value=0, dtype=i64}
  %one = call_function[full]() {size=[], value=1, dtype=i64}
  %m = call_function[amax](%x)
  %e = call_function[cast](%m) {dtype=i64}
  %i = call_function[range](%zero, %e, %one)
  %acc = call_function[zeros]() {size=[3]}
  %w = get_attr[w] : f32[3]
  %n = call_function[scan](%acc, %i, %x, %w) {carry=1, seqs=1} {
    region body(%a: f32[3], %k: i64[], %y: f32[N,3], %v: f32[3]) {
      %f = call_function[cast](%k) {dtype=f32} : f32[]
      %s = call_function[sum](%y) {dim=[0]} : f32[3]
      %sv = call_function[mul](%s, %v) : f32[3]
      %b = call_function[add](%a, %sv) : f32[3]
      %r = call_function[mul](%b, %f) : f32[3]
      return (%b, %r)
    }
  }
  %n0 = call_function[getitem](%n) {index=0}
  %n1 = call_function[getitem](%n) {index=1}
  return (%n0, %n1)
}
param w : f32[3]`,
	"within a branch and a loop": `
graph g(%x: f32[N,3]) {
  symbol N = dim(%x, 0)
  %s = call_function[sum](%x) : f32[]
  %t = call_function[full]() {size=[], value=6, dtype=f32}
  %big = call_function[gt](%s, %t) : bool[]
  %c = call_function[cond](%big, %x) : (f32[3]) {
    region yes(%a: f32[N,3]) {
      %i = call_function[nonzero](%a) : i64[?,2]
      %r = call_function[select](%i) {dim=1, index=0} : i64[?]
      %rows = call_function[index_select](%a, %r) {dim=0} : f32[?,3]
      %q = call_function[sum](%rows) {dim=[0]} : f32[3]
      return (%q)
    }
    region no(%a: f32[N,3]) {
      %q = call_function[sum](%a) {dim=[0]} : f32[3]
      return (%q)
    }
  }
  %c0 = call_function[getitem](%c) {index=0} : f32[3]
  %l = call_function[while](%c0, %x) {carry=1} : (f32[3]) {
    region cond(%v: f32[3], %a: f32[N,3]) {
      %i = call_function[nonzero](%v) : i64[?,1]
      %f = call_function[cast](%i) {dtype=f32} : f32[?,1]
      %k = call_function[sum](%f) : f32[]
      %two = call_function[full]() {size=[], value=2, dtype=f32} : f32[]
      %m = call_function[ge](%k, %two) : bool[]
      return %m
    }
    region body(%v: f32[3], %a: f32[N,3]) {
      %one = call_function[full]() {size=[], value=1, dtype=f32} : f32[]
      %d = call_function[sub](%v, %one) : f32[3]
      %r = call_function[relu](%d) : f32[3]
      %i = call_function[nonzero](%a) : i64[?,2]
      %f = call_function[cast](%i) {dtype=f32} : f32[?,2]
      %k = call_function[amax](%f) : f32[]
      %z = call_function[mul](%k, %one) : f32[]
      %o = call_function[sub](%r, %z) : f32[3]
      %p = call_function[relu](%o) : f32[3]
      return (%p)
    }
  }
  %l0 = call_function[getitem](%l) {index=0} : f32[3]
  return (%l0, %c0)
}`,
	"state written on both sides": `
graph g(%x: f32[N,3]) {
  symbol N = dim(%x, 0)
  %b = get_attr[sum] : f32[3]
  %s = call_function[sum](%x) {dim=[0]} : f32[3]
  %t = call_function[add](%b, %s) : f32[3]
  %w = call_function[assign](%b, %t) : f32[3]
  %i = call_function[nonzero](%x)
  %f = call_function[cast](%i) {dtype=f32}
  %k = call_function[sum](%f)
  %b2 = get_attr[sum] : f32[3]
  %u = call_function[mul](%b2, %k)
  %w2 = call_function[assign](%b2, %u)
  %b3 = get_attr[sum] : f32[3]
  %y = call_function[add](%b3, %s)
  return (%y, %i)
}
param sum : f32[3] buffer`,
	"nothing is found": `
graph g(%x: f32[N,3]) {
  symbol N = dim(%x, 0)
  %z = call_function[sub](%x, %x)
  %i = call_function[nonzero](%z)
  %r = call_function[select](%i) {dim=1, index=0}
  %rows = call_function[index_select](%x, %r) {dim=0}
  %c = call_function[cat](%rows, %x) {dim=0}
  return (%rows, %c)
}`,
}

// LateInputs are rows of several sizes, with different numbers of zeros.
func LateInputs() [][]*array.Array {
	return [][]*array.Array{
		{array.FromSlice([]float32{1, 0, 2, 0, 0, 3}, 2, 3)},
		{array.FromSlice([]float32{1, 4, 2, 3, 1, 3}, 2, 3)},
		{array.FromSlice([]float32{0, 0, 0}, 1, 3)},
		{array.FromSlice([]float32{1, 0, 2, 2, 0, 2, 1, 0, 2, 3, 4, 0}, 4, 3)},
		{array.FromSlice([]float32{1, 4, 2, 3, 1, 3}, 2, 3)},
	}
}
