// Package std is the standard operator library: one record (op.Op) for each
// operator, with PyTorch's names and semantics. Operators are variables named
// after the operator in CamelCase; importing the package enters them into op's
// table, so that the text form can name them.
//
// Where PyTorch's result depends on the platform or is an error at run time,
// this library fixes it, the same on every engine:
//
//   - integer division, floored division and remainders by zero give 0;
//   - float to integer casts truncate, saturate and map NaN to 0;
//   - integer arithmetic wraps around;
//   - random values are functions of an explicit key (see Rand).
package std
