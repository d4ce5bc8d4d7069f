package diag

// lowerCodes explains the codes FX5xxx: lowering to a target.
var lowerCodes = []Info{}
