// Package fx is the entry point: capture a network, transform it, run it, save it.
//
//	gm, err := fx.Trace(ctx, net, fx.Input("x", "f32[N,3,224,224]"))
//	y, err := gm.Run(ctx, x)
//
// It owns GraphModule, the list of built-in passes and the folder that a module is
// saved in. It stands above everything that a captured graph needs and below
// commands and models: the graph is in package graph, capture in tracer, running in
// interp, transformation in passes. It has no logic of its own and imports no code
// generator, no drawing and no target, so that a program that only traces links
// none of them. Read module.go first.
package fx
