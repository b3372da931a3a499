package explain

import (
	"fmt"
	"strings"
)

// stepOf returns the distance of the numbers in a list when it is always the same and there are at
// least two, else 0.
func stepOf(list []int) int {
	if len(list) < 2 {
		return 0
	}
	step := list[1] - list[0]
	for i := 2; i < len(list); i++ {
		if list[i]-list[i-1] != step {
			return 0
		}
	}
	return step
}

// listed writes out numbers; three or more in a row become a range, five or more at the same
// distance a sequence.
func listed(list []int, name func(int) string) string {
	if step := stepOf(list); step > 1 && len(list) > 4 {
		return fmt.Sprintf("%s, %s, ... %s", name(list[0]), name(list[1]), name(list[len(list)-1]))
	}
	var items []string
	for i := 0; i < len(list); i++ {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		if j >= i+2 {
			items = append(items, name(list[i])+" to "+name(list[j]))
			i = j
			continue
		}
		items = append(items, name(list[i]))
	}
	return joined(items)
}

// joined writes "a, b and c".
func joined(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " and " + items[last]
}

func ordinal(n int) string {
	suffix := "th"
	if n/10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprint(n, suffix)
}

// fromLast names a day that counts from the end of the month.
func fromLast(n int) string {
	if n == 1 {
		return "last"
	}
	return ordinal(n) + " to last"
}
