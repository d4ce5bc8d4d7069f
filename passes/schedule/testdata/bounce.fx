gofx 1
// Work goes to and fro between host and device on the critical path; the host has a
// little work of its own that must not come between.
// on gpu: g1 g2 g3
// takes 100us: g1 g2 g3
// takes 20us: h1 h2 h3
// takes 30us: o1 o2 o3
// link gpu host: 10us 0
// link host gpu: 10us 0
// makespan: 420us
// before: 510us

graph bounce(%x: f32[4]) {
  %g1 = call_function[exp](%x)
  %h1 = call_function[neg](%g1)
  %g2 = call_function[exp](%h1)
  %h2 = call_function[neg](%g2)
  %g3 = call_function[exp](%h2)
  %h3 = call_function[neg](%g3)
  %o1 = call_function[tanh](%x)
  %o2 = call_function[tanh](%o1)
  %o3 = call_function[tanh](%o2)
  %all = call_function[add](%h3, %o3)
  return %all
}
