package compiled

// row is a row of a published system's tables: the programs and tests that hold it, or why there is none. A name is
// that of a program, else that of a test with its folder.
type row struct{ id, about, held, none string }

// features are MagPy's (M).
var features = []row{
	{"M-1", "a record is a guard, a graph and a replay", "Branch, Globals, compile.TestHits", ""},
	{"M-2", "what is not read does not count", "compile.TestUnlistedFieldsAreFree, internal/testkit/compiled/zoo.TestWords", ""},
	{"M-3", "objects are known by identity or by structure", "Same, compile.TestStructure", ""},
	{"M-4", "guards have what code reads", "Literals, internal/effects.TestProgramsHaveTheirSummaries, internal/testkit/compiled/zoo.TestWords", ""},
	{"M-5", "what is compared, type by type", "internal/testkit/compiled.TestEveryWord, compile/state.TestGuard", ""},
	{"M-6", "replays write what existed and make what is new", "StoreElement, NewObject, Ring, TensorLists, compile/state.TestDiffAndApply", ""},
	{"M-7", "aliases", "compile.TestAliases, compile/state.TestGuardOfAliases", ""},
	{"M-8", "inputs and results of the graph", "ManyConsts, Nest, compile.TestEqualResults", ""},
	{"M-9", "which functions are pure", "internal/effects.TestFunctionsOfTensorByHandAreListed, internal/effects.TestProgramsHaveTheirSummaries", ""},
	{"M-10", "the decision of each call", "Conversions, BreakCallee, Waits, CallTensor, ItemPlus, FloorInt", ""},
	{"M-11", "what cannot be captured cuts a function", "BreakInt, BreakFloat, BreakCallee", ""},
	{"M-12", "callees are the caller's", "CallTensor, Mutual, compile.TestNested", ""},
	{"M-13", "records, the one used last first, bounded", "compile.TestCapacity", ""},
	{"M-14", "misses are counted by word", "compile.TestCapacity, internal/testkit/compiled.TestThousandCalls", ""},
	{"M-15", "numbers become inputs", "AddThree, ZeroDim", ""},
	{"M-16", "sizes become symbols", "OwnSize, MinMaxSizes", ""},
	{"M-17", "what cannot become an input", "Switch, Runes", ""},
	{"M-18", "branches on fields leave the graph", "StaticNorm, Branch", ""},
	{"M-19", "loops", "Recurrent, Unrolled, ScanLoop", ""},
	{"M-20", "branches on data", "Branches, Masked, internal/testkit/compiled/zoo.TestPolicies", ""},
	{"M-21", "random numbers", "Dropped, Random, Shuffles, compile.TestRandomDraws", ""},
	{"M-22", "the share of programs that is captured", "internal/testkit/compiled.TestShares", ""},
	{"M-23", "the cost of guards", "compile.TestHitAllocatesNothing, compile/state.TestCheckAllocatesNothing, compile/state.BenchmarkCheck", ""},
	{"M-24", "what cannot be captured runs in a session, or as it is, with the reason", "compile.TestObservation, compile.TestUnknownType", ""},
	{"M-25", "identity", "compile.TestDroppedReceiver, compile.TestWrittenWeight", ""},
}

// pitfalls are those that were reported of both systems, as far as they concern compiled functions.
var pitfalls = []row{
	{"PF-14", "a guard that has no path is left out", "BreakCallee, compile.TestHiddenTensor", ""},
	{"PF-15", "captured values are baked in", "internal/testkit/compiled.TestEveryWord", ""},
	{"PF-16", "numbers are told apart by content", "IntCache", ""},
	{"PF-17", "aliases are guarded one way", "compile.TestAliases", ""},
	{"PF-18", "all of a guard is evaluated", "compile/state.TestGuard", ""},
	{"PF-19", "records without bound", "compile.TestCapacity, compile.TestDroppedReceiver", ""},
	{"PF-20", "times of capture alone", "", "benchmarks read a value in the loop"},
	{"PF-21", "impure calls", "Clock, Random, Environment, MapOrder, Ranged, Spawns, Selects", ""},
	{"PF-22", "the branch that is not taken runs", "", "it does not run: a capture is the call itself"},
	{"PF-23", "loops are folded wrongly", "Recurrent, Labels, Unrolled", ""},
	{"PF-24", "strides are guarded too much or too little", "compile.TestLayoutOfInputs", ""},
	{"PF-33", "append, copies, nil and empty, closures, late writes", "Appends, FullSlices, Copied, Closures, AssignedLater, Late, Named, Deferred", ""},
	{"PF-34", "bits", "internal/testkit/compiled.TestCounts, compile.TestNewResultsOfInexactTargets", ""},
	{"PF-35", "inputs that decide branches", "Unrolled, MinMaxSizes", ""},
	{"PF-36", "generated code that is older than its source", "compile.TestStaleTable, compile/source.TestCheck, internal/testkit/compiled.TestGenerated", ""},
	{"PF-37", "folded weights that are written", "compile.TestWrittenWeight, compile.TestWeightInMemoryOfGoCode", ""},
	{"PF-38", "results are compared once", "internal/testkit/compiled.TestEveryWord, compile.TestAudit", ""},
}

// workloads are what was measured of MagPy, as far as it is counts.
var workloads = []row{
	{"W34", "graphs of eight networks", "internal/testkit/compiled/zoo.TestNetworks", ""},
	{"W35", "programs of all classes", "internal/testkit/compiled.TestCounts, internal/testkit/compiled.TestShares", ""},
	{"W36", "the time of a guard", "compile/state.BenchmarkCheck", ""},
	{"W38", "blocks that data chooses, loops over steps", "Recurrent, ScanLoop, internal/testkit/compiled/zoo.TestPolicies", ""},
}

// cases are the 128 of MagPy's own tests, by group.
var cases = []struct {
	group string
	rows  []row
}{
	{"Scalars", []row{
		{"perfect", "a field plus 1", "Plus", ""}, {"perfect_float", "the same with floats", "PlusFloat", ""},
		{"graph_break", "a look at data before a division", "BreakInt", ""}, {"graph_break_float", "the same with floats", "BreakFloat", ""},
		{"binary_op", "all operators of integers", "BinaryOps", ""}, {"dyn_int", "three numbers", "AddThree", ""}, {"dyn_int_with_call", "the same in a callee", "AddThreeCall", ""},
		{"dynamic_scalar_from_tensor", "a number of tensors", "ZeroDim", ""}, {"itertools_product", "all pairs of two lists", "Product", ""},
		{"int_cache", "two equal numbers", "IntCache", ""}}},
	{"Tensors", []row{
		{"tensor_only", "three tensors", "Three", ""}, {"with_scalar", "numbers of both kinds", "NumberKinds", ""}, {"subscr", "subscripts", "Subscripts", ""},
		{"tensor_functional", "functions of the library", "Functional", ""}, {"fx_nest", "a list of tensors, one of it repeated", "Nest", ""}, {"tensor_shape", "sizes as results", "SizesOut", ""},
		{"tensor_dtype", "a type as result", "DTypeOut", ""}, {"tensor_type", "conversion to the type of another tensor", "CastOwn", ""}, {"run_type_tensor", "conversion to a type", "CastTo", ""},
		{"tensor_new", "new tensors", "NewTensors", ""}, {"tensor_iter", "a range over rows", "Rows", ""}, {"tensor_item", "an element as a number", "ItemPlus, ZeroDim", ""},
		{"tensor_call_ex", "rows as arguments", "Spread", ""}, {"get_device_states", "states of devices", "", "Go code has no generator of a device"}, {"run_getattr_relu", "a function by its name", "ByName", ""},
		{"no_grad", "a scope without gradients", "", "gradients are asked for by a call"}, {"tensor_set_item", "writes of elements in a loop", "SetItems", ""},
		{"dyn_shape", "reshaped by its own size", "OwnSize", ""}, {"dyn_module", "a layer for any size", "Outer", ""}}},
	{"Sizes that differ", []row{
		{"dyn_shape (2)", "a size that a callee is given", "OwnSize", ""}, {"dyn_module (2)", "a product with a weight", "Outer", ""}, {"dyn_module_param", "a parameter times an input", "ParamTimes", ""},
		{"shape_min_max", "the least of sizes and a number", "MinMaxSizes", ""}, {"dyn_slice", "a slice by a size, in a callee", "SliceBySize", ""}}},
	{"In place", []row{
		{"inplace_add", "float, list and tensor", "AddAssign", ""}, {"inplace_subscr_add", "elements of lists", "ElementAdd", ""}, {"store_subscr", "a stored argument is the result", "StoreElement", ""},
		{"store_without_return", "a store alone", "StoreOnly", ""}, {"store_to_temp", "a list that escapes, and one that does not", "StoreTemp", ""}, {"inplace_function", "a callee that writes, with and without result", "InPlaceCalls", ""},
		{"store", "a store, a look at data, a store", "BreakStore, Shadowed", ""}}},
	{"Lists", []row{
		{"list without_tensor", "itself, repeated, cut, joined", "ListPatterns", ""}, {"list with_tensor", "the same with tensors", "TensorLists", ""}, {"list_contains", "membership", "Contains", ""},
		{"list_comp", "a function of each number", "Mapping", ""}, {"list_comp_tensor", "a function of each tensor", "MappedTensors", ""}, {"list_comp_with_wrapper", "two lists in step", "Zipped", ""},
		{"list_inplace", "a list that grows, in a struct", "LocalList", ""}}},
	{"Structs, sets and maps", []row{
		{"tuple without_tensor", "structs and arrays", "Tuples", ""}, {"tuple with_tensor", "the same with tensors", "TensorTuples", ""}, {"set without_tensor", "union, difference, equality", "SetOps", ""},
		{"set with_tensor", "tensors as members", "TensorSets", ""}, {"dict without_tensor", "a map that is passed on", "MapPassed", ""}, {"dict with_tensor", "tensors as values", "TensorMap, LocalMap, Keyed", ""},
		{"ordered_dict", "entries in order, made again", "OrderedMap", ""}}},
	{"Built-ins, arguments, arrays", []row{
		{"enumerate", "ranges with index, iterators", "Enumerate, RangeFunc", ""}, {"call_function_ex", "a shape as a list of arguments", "Spreadings", ""}, {"closure_call", "a closure that calls a closure", "ClosureChain", ""},
		{"call_ex", "options that are passed on", "Defaults", ""}, {"call_ex_with_update", "options that are changed before", "MethodOptions", ""}, {"caller_kw", "arguments in a struct", "Defaults", ""},
		{"array", "an array of numbers", "ArrayPassed", ""}, {"numpy_to_int", "the floor of an expression", "FloorInt", ""}, {"numpy_to_torch", "arithmetic of arrays, then a tensor", "ArrayMath", ""}}},
	{"Calls", []row{
		{"call_ud_func_break", "a function that looks at data", "BreakCallee", ""}, {"call_ud_model_break", "a method that looks at data, twice", "BreakMethod", ""}, {"call_param_module_break", "the same with a parameter", "BreakParam", ""},
		{"call_ud_func_scalar", "a function of a number", "CallNumber", ""}, {"call_ud_func_tensor", "a function of a tensor", "CallTensor", ""}, {"call_ud_module_external", "a module as argument, and one of another", "External", ""},
		{"call_param_module", "modules with parameters", "ParamModule", ""}, {"call_function_kw", "defaults", "Defaults", ""}, {"call_kw_with_self", "a method with options", "MethodOptions", ""},
		{"call_with_inner", "a method through a local function", "InnerClosure", ""}, {"call_with_named_children", "a loop over named modules", "Children", ""}, {"call_with_list_layers", "weights by made names", "ByLabel", ""},
		{"udf_static", "a function object with a memory", "FuncObject", ""}, {"udf_class", "methods without state", "FuncClass", ""}, {"call_run_udf", "the same tensor, and a copy", "Identity", ""},
		{"call_aba", "functions that call each other", "Mutual", ""}, {"call_high_order", "functions as arguments, empty lists", "HighOrder", ""}, {"guard_attr", "two callees that read one object", "TwoReaders", ""},
		{"empty_cell", "a variable that is assigned after its closure is made", "AssignedLater", ""}, {"parent_func_call", "a promoted method", "Promoted", ""}, {"call_parameter", "variadic arguments", "Variadics", ""},
		{"modify_attr", "a callee that writes fields, one of which is read", "ModifyField", ""}}},
	{"Types of the user's", []row{
		{"assign_to_exist", "a field of several objects", "AssignExisting", ""}, {"create_new_class", "a new object in each call", "NewObject", ""}, {"create_new_class_complex", "one that is changed, and what is made of it", "NewObjectChanged", ""}}},
	{"Modules", []row{
		{"call_method", "a Forward that looks at data", "BreakForward", ""}, {"module", "a product and a sum", "Forward", ""}, {"module_param", "a parameter of the receiver's", "ParamTimes", ""},
		{"external_module", "a module's child", "External", ""}, {"nn_module", "a module that is made in the call", "ModuleInside", ""}, {"map_module", "a list of modules, mapped", "MapModules", ""}, {"inplace_relu", "an activation in place", "Clamped", ""}}},
	{"Control flow and the engine", []row{
		{"static_cf", "a layer that may be missing, and a look at data", "StaticNorm, BreakNorm", ""}, {"end_of_control_flow", "where a region ends in byte code", "", "Go has no byte code; nothing looks for regions"},
		{"stack_effect", "what instructions do to the stack", "", "Go has no byte code"}, {"extend_arg", "260 constants", "ManyConsts", ""},
		{"random_key", "capture draws no number of the program's", "Dropped, compile.TestRandomDraws", ""}, {"simple_add", "an addition on a device", "", "tensors lie in the memory of the host; compile.On may be a device"}}},
	{"Models", []row{
		{"my_lstm_cell", "a cell that a step's number chooses", "StepAt", ""}, {"my_lstm_loop", "a loop over steps", "Recurrent", ""}, {"lstm_loop", "gates in a loop", "Gated", ""},
		{"my_lstm_unroll", "layers and steps", "Layers2", ""}, {"lstm_unroll", "the same with other depths", "Layers2", ""}, {"rnn_break", "a look at data in the loop", "BreakLoop", ""},
		{"rnn_no_break", "the same without", "Cells", ""}, {"builtin_rnn", "the library's cell", "BuiltinCell", ""}, {"bert", "two layers", "zoo/Align", ""}, {"bert_dyn", "other sizes", "internal/testkit/compiled/zoo.TestSizes", ""},
		{"deberta", "contents and positions", "zoo/DeBERTa", ""}, {"deberta_dyn", "other batches", "internal/testkit/compiled/zoo.TestSizes", ""}, {"deberta_dynlen", "other lengths", "internal/testkit/compiled/zoo.TestSizes", ""},
		{"densenet", "layers that see all before them", "zoo/DenseNet, internal/effects.TestNetworksOfModels", ""}, {"densenet_dyn", "other batches", "internal/testkit/compiled/zoo.TestSizes", ""},
		{"bn_function_factory_break", "a function that returns a closure, which looks at data", "BreakFactory, Factory", ""}, {"resnet", "residual blocks", "zoo/MonoDepth", ""}, {"resnet_dynamic", "other batches", "internal/testkit/compiled/zoo.TestSizes", ""},
		{"tridentnet", "branches that share weights", "zoo/TridentNet", ""}, {"bart", "a step of a decoder", "DecodeStep, zoo/AttnDecoder", ""}, {"align", "texts and images", "zoo/Align", ""},
		{"quantized", "steps that the data gives", "zoo/Quantized", ""}, {"monodepth", "depth at several scales", "zoo/MonoDepth", ""}, {"blockdrop_full", "all blocks", "zoo/BlockDrop", ""},
		{"blockdrop_dyn", "blocks that a policy chooses", "internal/testkit/compiled/zoo.TestPolicies", ""}, {"seq2seq_one_token", "a word of a decoder", "zoo/AttnDecoder, zoo/GreedyDecoder", ""}}},
}

// segments are the graphs that a lazy session makes of the programs of cases that look at data on their way.
var segments = map[string]int{
	"BreakInt": 2, "BreakFloat": 2, "BreakStore": 2, "BreakCallee": 2, "BreakMethod": 3, "BreakParam": 2, "BreakForward": 2, "BreakNorm": 2, "BreakLoop": 3, "BreakFactory": 2,
}

// withoutRecords are the cases for which MagPy's tests count pieces.
var withoutRecords = []string{"graph_break", "graph_break_float", "store", "call_ud_func_break", "call_ud_model_break", "call_param_module_break", "call_method", "static_cf", "rnn_break", "bn_function_factory_break"}
