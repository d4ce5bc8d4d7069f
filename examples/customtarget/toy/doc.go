// Package toy is a target of one's own: a made-up accelerator with units for a few
// operators on f32, and a memory of its own.
//
// machine.go is the machine: what a driver would be. rules.go is what a target knows:
// which operator which unit computes, and why not. target.go makes a lowering.Target of
// the two. That gives nothing for operators without a unit: lowering.Split leaves them to
// another target.
package toy
