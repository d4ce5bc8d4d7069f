// Package graph is the IR: a DAG of nodes in executable order with six opcodes,
// torch.fx's, and the state that goes with it (Module). It owns editing, the text
// form, lint, equality, hashing, saving, symbols with their guards, and Fold, the
// traversal of engines. Capture (tracer) and text produce graphs; passes edit them
// through a Cursor; interpretation and lowering are folds over them, code generation
// and drawing read them.
//
// It stands above op, next to tensor. It knows operators only by their records, and
// neither runs nor optimises anything.
// The graph is the program: there is nothing to recompile after an edit. What nodes cost is
// for graph/count, and for lowering/cost, to say.
//
// effects.go alone says what nodes read, write and share, and which order counts. Answers to
// questions about a graph (Analysis) are kept until an edit.
//
// Read node.go first, then cursor.go and module.go. Nodes are made by a Cursor or by the
// Copier (copy.go), which inline.go, extract.go and outline.go stand on. facts.go is what a
// graph knows of sizes, edit.go has the edits that refuse, watch.go who hears of edits, lint.go
// the checks; print.go, parse.go and output.go are the text form, which docs/ir.md describes.
package graph
