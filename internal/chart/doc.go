// Package chart draws what happens over time as SVG: a timeline of runs, a heat map of a
// week, a year as a calendar, and a plot of durations. A drawing is a text that stands in
// a page or, made by [File], alone in a file. Shapes have a class for the state and a
// title for those who cannot see the colour; texts are escaped.
package chart
