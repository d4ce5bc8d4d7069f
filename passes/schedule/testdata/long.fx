gofx 1
// The device's chain is the critical path, and its first node needs a little of the
// host's work: that comes first, the rest of the host's work behind it.
// on gpu: g1 g2 g3 g4
// takes 60us: g1 g2 g3 g4
// takes 50us: w1 w2 w3 w4
// takes 10us: key end
// makespan: 260us
// before: 460us

graph long(%x: f32[4]) {
  %w1 = call_function[exp](%x)
  %w2 = call_function[neg](%w1)
  %w3 = call_function[tanh](%w2)
  %w4 = call_function[relu](%w3)
  %key = call_function[sigmoid](%x)
  %g1 = call_function[exp](%key)
  %g2 = call_function[neg](%g1)
  %g3 = call_function[tanh](%g2)
  %g4 = call_function[relu](%g3)
  %end = call_function[add](%w4, %g4)
  return %end
}
