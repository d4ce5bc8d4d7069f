// Package cost computes the cost of a plan: operations, bytes, memory, and time on a
// described device, of each step and summed by scope or operator; and the number of such machines
// for a number of requests (the simulation of inference at scale in torch.fx's paper,
// section 6.3; the roofline is that of Williams, Waterman and Patterson, 2009).
//
// It stands above lowering/plan, next to the packages that execute and print plans. Counts
// follow from the plan and sizes alone and are exact. A target adds the numbers that only it
// knows (scratch memory, the layout of its weights): cpu.Executable.Cost. Times are those of a
// Device, which is described by its peaks; Device.Calibrate fits laws to measured runs. It
// measures nothing itself. Read work.go first, then device.go, calibrate.go, fleet.go.
package cost
