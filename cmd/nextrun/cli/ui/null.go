package ui

// TextOrNull is a text as JSON has it: null where a column is NULL or empty.
func TextOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
