gofx 1
// A device, a remote host and this one, each with a chain of its own, written one after the other.
// on gpu: g g2
// on remote: r
// takes 100us: g g2 r h h2
// takes 10us: sum sum_1
// makespan: 220us
// before: 520us

graph three(%x: f32[4]) {
  %g = call_function[exp](%x)
  %g2 = call_function[neg](%g)
  %a = call_function[relu](%g2)
  %r = call_function[tanh](%x)
  %b = call_function[relu](%r)
  %h = call_function[sigmoid](%x)
  %h2 = call_function[neg](%h)
  %sum = call_function[add](%h2, %b)
  %sum_1 = call_function[add](%sum, %a)
  return %sum_1
}
