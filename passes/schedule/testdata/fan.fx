gofx 1
// Four remote hosts are asked in turn by the program, and at once by the schedule.
// on remote1: r1
// on remote2: r2
// on remote3: r3
// on remote4: r4
// takes 100us: r1 r2 r3 r4
// takes 5us: s1 s2 s3
// link host remote1: 20us 0
// link host remote2: 20us 0
// link host remote3: 20us 0
// link host remote4: 20us 0
// makespan: 135us
// before: 435us

graph fan(%x: f32[4]) {
  %r1 = call_function[exp](%x)
  %a1 = call_function[neg](%r1)
  %r2 = call_function[tanh](%x)
  %s1 = call_function[add](%a1, %r2)
  %r3 = call_function[sigmoid](%x)
  %s2 = call_function[add](%s1, %r3)
  %r4 = call_function[relu](%x)
  %s3 = call_function[add](%s2, %r4)
  return %s3
}
