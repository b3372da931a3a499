// Package frame has what all pages have in common: it renders templates, answers as HTML,
// as a part of it or as JSON, and knows who asks.
package frame
