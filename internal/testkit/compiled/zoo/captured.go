package zoo

// Graphs says in how many graphs each way captures six calls: a trace, a lazy session, and records of the compiled form.
type Graphs struct{ Trace, Lazy, Compile int }

// Captured are the graphs of the networks. A trace refuses AttnDecoder, which keeps a traced tensor in a field; a session
// makes another graph of its first call, whose state is no value of the session.
var Captured = map[string]Graphs{
	"Align": {1, 1, 1}, "DeBERTa": {1, 1, 1}, "MonoDepth": {1, 1, 1}, "DenseNet": {1, 1, 1}, "Quantized": {1, 1, 1},
	"TridentNet": {1, 1, 1}, "BlockDrop": {1, 1, 1}, "AttnDecoder": {0, 2, 1}, "GreedyDecoder": {1, 1, 1},
}
