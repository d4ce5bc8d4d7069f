// Package cost tells what a plan takes: operations, bytes, memory, and on a described
// device time, of each step and summed by scope or operator; and how many such machines
// serve how many requests (the simulation of inference at scale in torch.fx's paper,
// section 6.3; the roofline is that of Williams, Waterman and Patterson, 2009).
//
// It stands beside what executes and prints plans, above lowering/plan. Counts follow from
// the plan and sizes alone and are exact; what only a target knows (scratch memory, how
// it lays weights out) the target adds: cpu.Executable.Cost. Times are those of a Device,
// which is described by its peaks; Device.Calibrate fits laws to measured runs. It
// measures nothing itself. Read work.go first, then device.go, calibrate.go, fleet.go.
package cost
