gofx 1
// Values of 4 kB pass a slow link one after the other, while the host works.
// on gpu: a b c
// takes 10us: a b c
// takes 40us: h1 h2 h3
// takes 30us: last
// link gpu host: 2us 1e8
// issue: 1us
// makespan: 203us
// before: 309us

graph transfer(%x: f32[1000]) {
  %a = call_function[exp](%x)
  %h1 = call_function[neg](%a)
  %b = call_function[tanh](%x)
  %h2 = call_function[neg](%b)
  %c = call_function[sigmoid](%x)
  %h3 = call_function[neg](%c)
  %s = call_function[add](%h1, %h2)
  %last = call_function[add](%s, %h3)
  return %last
}
