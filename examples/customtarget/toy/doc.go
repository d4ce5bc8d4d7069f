// Package toy is a custom target: a made-up accelerator with units for a
// few operators on f32, and its own memory.
//
// machine.go is the machine, in place of a driver. rules.go maps operators to units,
// and gives the reason for each operator without one. target.go makes a lowering.Target
// of the two. It has no code for operators without a unit: lowering.Split gives them
// to another target.
package toy
