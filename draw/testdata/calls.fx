gofx 1

graph net(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %w = get_attr[head.w] : f32[4,4]
  %a = call_module[l0](%x) : f32[N,4]
  %b = call_module[l1](%a) : f32[N,4]
  %h = call_function[linear](%b, %w) : f32[N,4]
  %c = call_function[call](%h) {graph="tail"} : f32[N,4]
  return %c
}
subgraph layer(%x: f32[B,4], %w: f32[4,4]) {
  symbol B = dim(%x, 0)
  %linear = call_function[linear](%x, %w) : f32[B,4] in "fc" "example.com/net.Linear"
  %relu = call_function[relu](%linear) : f32[B,4] in "act" "example.com/net.ReLU"
  %c = call_function[call](%relu) {graph="tail"} : f32[B,4]
  return %c
}
subgraph tail(%x: f32[M,4]) {
  symbol M = dim(%x, 0)
  %neg = call_function[neg](%x) : f32[M,4]
  %exp = call_function[exp](%neg) : f32[M,4]
  return %exp
}
param head.w : f32[4,4]
param l0.w : f32[4,4]
param l1.w : f32[4,4]
module l0 = call {graph="layer"} (w=l0.w)
module l1 = call {graph="layer"} (w=l1.w)
