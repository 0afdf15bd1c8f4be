// Command lustrum takes the census of MCP servers.
//
// This package turns flags into calls, results into text and errors into exit
// codes: 0 done and nothing found, 1 could not do it, 2 done and something
// was found that the command gates on. It decides nothing about servers.
package main
