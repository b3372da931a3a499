package text

import "strings"

// Nearest returns the candidate that a word was probably meant to be, or "". Case does not count.
func Nearest(word string, candidates ...string) string {
	word = strings.ToLower(word)
	if len(word) < 2 || len(word) > 20 {
		return ""
	}
	best, least := "", 2
	if len(word) > 4 {
		least = 3
	}
	for _, c := range candidates {
		lower := strings.ToLower(c)
		if strings.HasPrefix(lower, word) || strings.HasPrefix(word, lower) && len(lower) > 2 {
			return c
		}
		if d := edits(word, lower); d < least {
			best, least = c, d
		}
	}
	return best
}

// edits counts the letters to insert, remove, replace or swap with their neighbour that turn one
// word into the other (the optimal string alignment distance).
func edits(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			if i == 0 || j == 0 {
				rows[i][j] = i + j
				continue
			}
			replace := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			rows[i][j] = min(replace, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
