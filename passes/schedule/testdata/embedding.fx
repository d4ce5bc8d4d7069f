gofx 1
// The paper's first case: a lookup on a remote host, and dense work of this one, which
// the program writes after it.
// on remote: far
// takes 200us: far
// takes 90us: bottom bottom_1
// takes 20us: top
// link host remote: 5us 0
// link remote host: 5us 0
// issue: 1us
// makespan: 230us
// before: 410us

graph embedding(%ids: f32[8], %dense: f32[8]) {
  %far = call_function[tanh](%ids)
  %joined = call_function[neg](%far)
  %bottom = call_function[exp](%dense)
  %bottom_1 = call_function[relu](%bottom)
  %top = call_function[add](%joined, %bottom_1)
  return %top
}
