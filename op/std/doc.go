// Package std is the standard operator library: one record (op.Op) for each
// operator, with PyTorch's names and semantics. Operators are variables named
// after the operator in CamelCase; importing the package enters them into op's
// table, so that the text form can name them.
//
// It is a catalogue, not an engine: an operator is one entry in one file, named after
// its family, with its samples. It stands above op and below tensors and graphs; no
// engine imports it. Read unary.go first, then compose.go (operators made of others)
// and matmul.go (operators with kernels); docs/add-an-op.md is the guide.
//
// Where PyTorch's result depends on the platform or is an error at run time,
// this library fixes it, the same on every engine:
//
//   - integer division, floored division and remainders by zero give 0;
//   - casts follow the rules of array.Cast, also where an integer cannot hold a float;
//   - integer arithmetic wraps around;
//   - random values are functions of an explicit key.
//
// # Random numbers
//
// Random operators take a key, a 0-dimensional i64 or u64 tensor: the same key
// gives the same words on every engine and machine. Use a key once and derive
// others by fold_in or random_split.
//
// Element i of the result, counted in row-major order, takes its words w0..w3
// from Philox4x32-10 with the key's low and high 32 bits as the key and the
// counter {low 32 bits of i, high 32 bits of i, 0, 0}. With h = w0<<32 | w1:
//
//	uniform f32   (w0 >> 8) * 2^-24
//	uniform f16   (w0 >> 21) * 2^-11
//	uniform bf16  (w0 >> 24) * 2^-8
//	uniform f64   (h >> 11) * 2^-53
//	normal f32    sqrt(-2 log u) * cos(2 pi v), u = w0*2^-32 + 2^-33, v the uniform f32 of w1;
//	              f16 and bf16 are rounded from it
//	normal f64    the same with u = ((h >> 11) + 1) * 2^-53, v the uniform f64 of w2 and w3
//	randint       low + the upper 64 bits of h * (high - low)
//
// bernoulli and dropout compare with the uniform f64 for f64 operands, else with
// the uniform f32. fold_in and random_split give w0<<32 | w1 for counters whose
// third word is 1 and 2, so that derived keys are independent of drawn values.
package std
