// Package pt2 reads programs that PyTorch exports by torch.export (.pt2 files, which torch.export.save writes)
// and makes graphs of them. An archive holds the graph of ATen operators and the knowledge about sizes as JSON, and
// the weights as bytes; nothing in it is executed. A graph computes what the program computes, or the import is refused:
// every operator has a rule that names its arguments, and the type that gofx infers for each value is compared
// with the one that PyTorch wrote. Writes in place become values (package alias), sizes and conditions on them
// become symbols and guards, cond, while_loop and scan regions, buffers that are written state.
//
// Archives are treated as hostile: text, depth and memory are bounded by the size of the file. The
// package stands next to onnx, above the passes; it writes no archives and trains nothing.
//
// Read file.go first, then import.go; rules.go begins the table of operators.
package pt2
