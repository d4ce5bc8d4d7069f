// Package grad makes graphs that compute gradients: of a graph that computes a loss, one
// that computes the loss and its derivatives with respect to inputs and parameters.
//
// The result is an ordinary graph: it is printed, optimised, compiled and generated as
// any other. What it computes is reverse-mode differentiation. The calls of the graph are
// walked from the loss back; each gives, of the derivatives with respect to its results
// (seeds), those with respect to its operands, and a tensor's derivatives are added up: a
// parameter's over all reads of its path, so that tied weights get one gradient. Only
// calls that lie between what is asked for and the loss are differentiated.
//
// How a call is differentiated is the operator's business, and the first of these that it
// has (see How):
//
//  1. its own rule, op.Spec.Grad;
//  2. the derivative of its expression, which is an operator again (gelu_grad);
//  3. its decomposition, which then stands in the place of the call;
//  4. the inverse of the view that it is, op.Spec.Scatter; what comes back to ranges of
//     one value is joined (pieces.go);
//  5. its expansion by the table of package expand, which then stands in its place.
//
// The gradient of cond, scan and while is control flow, too: see control.go. Parameters that
// bodies read become operands first. Bodies are differentiated as graphs are, in a copy that
// computes again what it needs from the operands and from what the loop keeps of each trip:
// the values that it carries, and results of products of matrices and the like, which cost
// more to compute than to read. A while keeps them in buffers of op.LoopAttrs.MaxTrips rows.
//
// What has none is refused at the model's line, with the operator's reason where it gives
// one. All mistakes are reported at once, and a gradient is never silently zero.
//
// The package does not fold, fuse or simplify: run fx.Optimise on the result. Gradients
// come before folding and fusion, whose results are no models to train any more.
//
// Read grad.go first, which has the entry points, then reverse.go, the walk.
package grad
