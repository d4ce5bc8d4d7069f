gofx 1
// Software pipelining, the paper's second case: the device works on a part of the batch
// while the host works on what it made of the one before.
// on gpu: g0 g1 g2 g3
// takes 50us: g0 g1 g2 g3
// takes 50us: h0 h1 h2 h3
// makespan: 250us
// before: 400us

graph pipeline(%x0: f32[4], %x1: f32[4], %x2: f32[4], %x3: f32[4]) {
  %g0 = call_function[exp](%x0)
  %h0 = call_function[tanh](%g0)
  %g1 = call_function[exp](%x1)
  %h1 = call_function[tanh](%g1)
  %g2 = call_function[exp](%x2)
  %h2 = call_function[tanh](%g2)
  %g3 = call_function[exp](%x3)
  %h3 = call_function[tanh](%g3)
  return (%h0, %h1, %h2, %h3)
}
