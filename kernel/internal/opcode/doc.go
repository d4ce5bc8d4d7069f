// Package opcode lists the operations of scalar programs: their numbers, which generated
// code contains and which never move, their arity, types and error bounds. Read opcode.go
// first.
package opcode
