package sqldb

// Held is what a type embeds that holds a database for the packages below store: they get it
// with [Of], and nobody else can.
type Held struct{ db *DB }

// Hold returns what to embed.
func Hold(db *DB) Held { return Held{db} }

func (h Held) held() *DB { return h.db }

// Of returns the database that somebody holds.
func Of(holder interface{ held() *DB }) *DB { return holder.held() }
