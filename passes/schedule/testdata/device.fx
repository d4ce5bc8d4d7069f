gofx 1
// The paper's case: what runs on the host and what a device runs without it overlap.
// on gpu: g1 g2 g3 g4
// takes 50us: g1 g2 g3 g4
// takes 45us: h1 h2 h3
// takes 10us: sum
// issue: 1us
// makespan: 211us
// before: 346us

graph device(%x: f32[4], %y: f32[4]) {
  %g1 = call_function[exp](%x)
  %g2 = call_function[neg](%g1)
  %g3 = call_function[tanh](%g2)
  %g4 = call_function[relu](%g3)
  %a = call_function[neg](%g4)
  %h1 = call_function[exp](%y)
  %h2 = call_function[neg](%h1)
  %h3 = call_function[tanh](%h2)
  %sum = call_function[add](%h3, %a)
  return %sum
}
