package diag

// typeCodes explains the codes FX2xxx: element types, shapes and symbols.
var typeCodes = []Info{
	{
		Code: "FX2080", Title: "size cannot be computed",
		Cause:   "a symbolic size is needed as a number, but a symbol in it has no value, a divisor in it is zero, or the result leaves the range of integers",
		Cure:    "give every symbol of the expression a value, and inputs that are not empty where a size divides",
		Example: "2*N+1 with no value for N",
	},
}
