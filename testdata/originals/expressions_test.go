package originals

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// ordinary are expressions as people write them, and odd ones that are good or bad.
var ordinary = strings.Split(strings.TrimSpace(`
* * * * *
*/5 * * * *
*/7 * * * *
0 * * * *
17 * * * *
25 6 * * *
47 6 * * 7
52 6 1 * *
30 2 * * *
0,30 2 * * *
5-55/10 8-18 * * 1-5
09,39 * * * *
5-55/10 * * * *
59 23 * * *
0 0 * * 0
0 0 * * 7
0 0 * * sun
0 0 * * SUN
0 0 * * Mon-Fri
0 9 * * mon,wed,fri
0 0 1,15 * *
0 0 1 * 1
0 0 13 * 5
0 0 */2 * 1
0 0 1-31/2 * 1
0 0 */10 * */3
0 0 * */3 *
0 0 1 */3 *
0 0 1 jan,jul *
0 0 1 JAN *
0 0 29 2 *
0 0 31 * *
0 0 30 2 *
0 0 * * 5-7
0 0 * * 0-7
0 0 * * 0,7
0 0 * * 1-7
0 0 * * 6-7
0 22 * * 1-5
23 0-23/2 * * *
5 4 * * sun
0 0,12 1 */2 *
0 4 8-14 * *
00 03 * * *
01 04 01 01 *
0 0 * * 1,2,3
0-59 * * * *
*/59 * * * *
*/1 * * * *
0 */1 * * *
0 */6 * * *
0 */24 * * *
*/60 * * * *
*/90 * * * *
0 0 */31 * *
0 0 */40 * *
0 0 1-7 * 1
0 0 1-7 * *
0 0 * * */2
0 0 * 2-11/3 *
1,2,3,4,5 1,2 * * *
0-10,20-30/5 3 * * *
10-5 * * * *
* 22-2 * * *
0 0 * * 5-1
0 0 * * fri-mon
0 0 * * mon-sun
60 * * * *
* 24 * * *
* * 0 * *
* * 32 * *
* * * 0 *
* * * 13 *
* * * * 8
* * * * -1
-1 * * * *
5/15 * * * *
5/0 * * * *
*/0 * * * *
*/-5 * * * *
*/x * * * *
* * * *
* * * * mo
* * * * monday
* * * january *
0 0 L * *
0 0 15W * *
0 0 * * 5L
0 0 * * 1#2
0 0 ? * *
0 0 * * ?
1, * * * *
,1 * * * *
1,,2 * * * *
1- * * * *
1-2-3 * * * *
1-5/ * * * *
** * * * *
*5 * * * *
*-5 * * * *
0x5 * * * *
1.5 * * * *
+5 * * * *
0 0 * * sun-tue
0 0 * feb mon
0 0 1 jan-mar *
0 0 1 nov-feb *
0 0 1 jan-dec/3 *
0 0 * * mon-fri/2
a * * * *
*/5,*/7 3 * * *
*,5 3 * * *
5,* 3 * * *
0 0 *,13 * 5
0 0 13,* * 5
0 0 13 * *,5
0 0 13 * 5,*
007 * * * *
0000000000000000000000007 * * * *
99999999999 * * * *
4294967296 * * * *
@hourly
@daily
@midnight
@weekly
@monthly
@Daily
@everyday
@
`), "\n")

// generator makes random expressions.
type generator struct{ *rand.Rand }

// expressions are the ordinary ones and n random ones, the same in each run.
func expressions(n int) []string {
	g := generator{rand.New(rand.NewPCG(17, 4))}
	list := append([]string{}, ordinary...)
	for range n {
		list = append(list, g.expression())
	}
	return list
}

func (g *generator) expression() string {
	months := []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}
	weekdays := []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat", "sun"}
	fields := []string{g.field(0, 59, 1, nil), g.field(0, 23, 3, nil), "*", "*", "*"}
	if g.IntN(2) == 0 {
		fields[2] = g.field(1, 31, 4, nil)
	}
	if g.IntN(4) == 0 {
		fields[3] = g.field(1, 12, 4, months)
	}
	if g.IntN(2) == 0 {
		fields[4] = g.field(0, 7, 4, weekdays)
	}
	text := strings.Join(fields, " ")
	if g.IntN(6) == 0 { // damage
		const bytes = "0123456789*-/, LW#?$a"
		i := g.IntN(len(text))
		text = text[:i] + string(bytes[g.IntN(len(bytes))]) + text[i+1:]
	}
	return text
}

// field is a list of numbers, ranges and steps; one in so many is a star.
func (g *generator) field(low, high, stars int, names []string) string {
	if stars > 1 && g.IntN(stars) == 0 {
		return "*"
	}
	name := func(n int) string {
		if names != nil && g.IntN(3) == 0 {
			return names[n-low]
		}
		return strconv.Itoa(n)
	}
	var items []string
	for range 1 + g.IntN(2) {
		from := low + g.IntN(high-low+1)
		to := from + g.IntN(high-from+1)
		switch g.IntN(6) {
		case 0:
			items = append(items, name(from)+"-"+name(to))
		case 1:
			items = append(items, name(from)+"-"+name(to)+"/"+strconv.Itoa(1+g.IntN(high)))
		case 2:
			items = append(items, "*/"+strconv.Itoa(high/5+1+g.IntN(high)))
		default:
			items = append(items, name(from))
		}
	}
	return strings.Join(items, ",")
}
