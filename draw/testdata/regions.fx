gofx 1

graph choose(%x: f32[N,4], %flag: bool[]) {
  symbol N = dim(%x, 0)
  %neg = call_function[neg](%x) : f32[N,4]
  %cond = call_function[cond](%flag, %neg) : f32[N,4] {
    region yes(%a: f32[N,4]) {
      %relu = call_function[relu](%a) : f32[N,4]
      return %relu
    }
    region(%a: f32[N,4]) {
      return %a
    }
  }
  return {logits: %cond, raw: %x}
}
