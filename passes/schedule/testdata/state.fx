gofx 1
// A cache is read on the device, then written by the host: the write waits for the read,
// the work that needs neither does not.
// on gpu: score far
// takes 100us: score far
// takes 80us: w1
// takes 10us: set new
// makespan: 200us
// before: 300us

graph state(%x: f32[4]) {
  %s = get_attr[cache] : f32[4]
  %score = call_function[exp](%s) : f32[4]
  %set = call_function[assign](%s, %x) : f32[4]
  %s_1 = get_attr[cache] : f32[4]
  %new = call_function[exp](%s_1) : f32[4]
  %far = call_function[tanh](%score) : f32[4]
  %w1 = call_function[neg](%x) : f32[4]
  return (%new, %far, %w1)
}
param cache : f32[4]
