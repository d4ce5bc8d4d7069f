// Package draw makes pictures of graphs that people can read: DOT text, a
// standalone HTML page, tables. Modules become nested clusters, modules that
// repeat are drawn once, constants are left out unless asked for. The same graph and
// options give the same bytes.
//
// It stands above graph and nothing but commands imports it. It writes DOT and does
// not lay it out: draw/graphviz turns DOT into SVG and PNG, and only that package
// links Graphviz. Read draw.go first.
package draw
