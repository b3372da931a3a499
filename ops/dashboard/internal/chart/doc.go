// Package chart draws what happens over time as SVG: strips of cells, lanes of a timeline, and
// bars. A drawing is a text that stands in a page. Shapes have a class for the state and a title
// for those who cannot see the colour; texts are escaped.
package chart
