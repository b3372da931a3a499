// Package show writes values as people read them on a page: times, texts that may come
// from anywhere, args with what must stay secret masked, and rows as SQL.
package show
