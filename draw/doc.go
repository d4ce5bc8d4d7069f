// Package draw makes pictures of graphs that people can read: DOT text, tables, and a
// standalone HTML page that shows the graph before and after each pass. Modules become
// nested clusters, modules that repeat are drawn once, constants are left out unless
// asked for. The same graph and options give the same bytes.
//
// It stands above graph and passes, and nothing but commands imports it. It writes DOT
// and does not lay it out: draw/graphviz turns DOT into SVG and PNG, and only that
// package links Graphviz. A page lays itself out: its program is in the folder page, in
// the order that html.go gives, from the data that record.go writes. Read draw.go first,
// for a page report.go and page/app.js.
package draw
