gofx 1
// Two devices pass values directly; the host waits for the last one alone.
// on gpu0: a1 a2 a3 a4
// on gpu1: b1 b2 b3 b4
// takes 40us: a1 a2 a3 a4
// takes 40us: b1 b2 b3 b4
// takes 60us: h
// link gpu0 gpu1: 1us 1e9
// issue: 1us
// makespan: 202.016us
// before: 202.016us

graph chain(%x: f32[4], %y: f32[4]) {
  %a1 = call_function[exp](%x)
  %b1 = call_function[neg](%a1)
  %a2 = call_function[tanh](%a1)
  %b2 = call_function[add](%a2, %b1)
  %h = call_function[sigmoid](%y)
  %a3 = call_function[tanh](%a2)
  %b3 = call_function[add](%a3, %b2)
  %a4 = call_function[tanh](%a3)
  %b4 = call_function[add](%a4, %b3)
  %sum = call_function[add](%h, %b4)
  return %sum
}
