package diag

// codegenCodes explains the codes FX4xxx: Go source from graphs and plans.
var codegenCodes = []Info{}
