// Package models holds networks of the literature as ordinary user code on top
// of package nn: they are examples, test subjects and benchmarks. Names of
// parameters are those of the published checkpoints. Constructors leave the
// weights zero; load a checkpoint with nn.LoadFile, or let Synthetic fill them by
// a formula that any language can repeat.
//
// [All] lists them: those that the project has reference outputs of. Not in the list are [GPT2Decoder] and [Llama], which generate text, the
// latter made of a GGUF file by [LoadLlama], the heads of
// BERT and RoBERTa, which are also made in their large sizes, and [WordSeg], whose calls depend
// on the length of its text.
// The package stands above the whole library, which knows nothing of it: a model
// here uses only what every user's model can use, and no weights are part of the package.
// Read models.go first, then mlp.go.
package models
