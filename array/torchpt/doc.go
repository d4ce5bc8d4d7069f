// Package torchpt reads the tensors of files that torch.save writes (.pt, .pth, .bin: zip
// archives, and before PyTorch 1.6 pickles followed by the storages), and the weights
// of torch.export's programs (.pt2), without running their contents. A pickle is a program; the machine here knows
// numbers, texts, lists, tuples, dictionaries, storages and the functions that put
// tensors together from these, and refuses everything else by its name. It runs no
// constructor and imports nothing.
//
// A checkpoint that nests dictionaries has names with dots: {"model": {"w": ...}} has a
// tensor model.w. Files are treated as hostile: memory is bounded by the size
// of the file, and tensors lie within their storages. Sparse and quantised tensors,
// TorchScript archives and the tar archives of the first versions are refused. It stands above array and
// does not write.
//
// Read file.go first, then pickle.go; legacy.go for old files.
package torchpt
