package sqldb

// Held is what a type embeds that holds a database for the packages of nextrun: they get it
// with [Of], and nobody else can.
type Held struct{ db *DB }

// Hold returns what to embed.
func Hold(db *DB) Held { return Held{db} }

func (h Held) held() *DB { return h.db }

// Opened is who holds a database: a [Held], or what embeds one.
type Opened interface{ held() *DB }

// Of returns the database that somebody holds.
func Of(holder Opened) *DB { return holder.held() }
