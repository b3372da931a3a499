package main_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/page"
	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/periodic"
)

const referencePage = "../../docs/reference.md"

// The page has the columns of a new database, with the comments of the schema, and is the same for both kinds. A table
// without a part of its own is one that nextrun keeps for itself; without a comment it is not listed.
func TestReferenceOfTables(t *testing.T) {
	t.Parallel()
	storetest.Both(t, func(t *testing.T, d *storetest.Database) {
		nextrun(t, d.URL, ui.Done, "migrate", "up")
		comments := page.Comments(t, "../../migrations/postgres/00001_schema.sql")
		tables := tablesOf(t, d)
		own := ""
		for _, name := range slices.Sorted(maps.Keys(tables)) {
			if strings.Contains(readFile(t, referencePage), "<!-- "+name+" -->") {
				text := tables[name].text(comments)
				if strings.Contains(text, "): \n") {
					t.Errorf("a column of %s has no comment in the schema", name)
				}
				page.Part(t, referencePage, name, text)
			} else if comments[name].Text != "" {
				own += page.Item(name, comments[name].Text)
			}
		}
		page.Part(t, referencePage, "other tables", own)
		inCode := map[string][]string{"periodic_task": {"resumed", "rev", "since"}, "job": {"startedmillis"}}
		for _, c := range periodic.Columns() {
			inCode["periodic_task"] = append(inCode["periodic_task"], c.InTable())
		}
		for _, c := range jobqueue.Columns() {
			inCode["job"] = append(inCode["job"], c.InTable())
		}
		for name, columns := range inCode {
			has := tables[name].columns()
			slices.Sort(has)
			if slices.Sort(columns); !slices.Equal(has, columns) {
				t.Errorf("the database has of %s\n%q, the code\n%q", name, has, columns)
			}
		}
	})
}

// Lists of what has a comment in the code.
func TestReferenceOfConstants(t *testing.T) {
	t.Parallel()
	page.Part(t, referencePage, "states", page.Constants(t, "../../jobqueue/state.go", "State"))
	page.Part(t, referencePage, "decisions", page.Constants(t, "../../periodic/tick.go", "Decision"))
	page.Part(t, referencePage, "causes", page.Constants(t, "../../periodic/tick.go", "Cause"))
	page.Part(t, referencePage, "exit codes", page.Constants(t, "../../ops/cli/ui/usage.go", ""))
}

// A tableOrView is one of the database, with its columns in order.
type tableOrView struct {
	name string
	view bool
	rows []columnOfTable
}

type columnOfTable struct{ name, typed, byDefault string }

func (v *tableOrView) columns() (names []string) {
	for _, c := range v.rows {
		names = append(names, c.name)
	}
	return names
}

// text is what the page says of it, in the order of the comments: of a table types, defaults and comments, of a view the
// columns with comments; its others are as in the tables.
func (v *tableOrView) text(comments map[string]page.Comment) string {
	slices.SortStableFunc(v.rows, func(a, b columnOfTable) int {
		return comments[v.name+"."+a.name].Place - comments[v.name+"."+b.name].Place
	})
	var list strings.Builder
	list.WriteString(sentence(comments[v.name].Text))
	var others []string
	for _, c := range v.rows {
		meaning := comments[v.name+"."+c.name].Text
		switch {
		case !v.view:
			fmt.Fprintf(&list, "- %#q (%s): %s\n", c.name, c.about(), meaning)
		case meaning != "":
			list.WriteString(page.Item(c.name, meaning))
		default:
			others = append(others, fmt.Sprintf("%#q", c.name))
		}
	}
	if v.view {
		fmt.Fprintf(&list, "- as in the tables: %s\n", strings.Join(others, ", "))
	}
	return list.String()
}

// sentence is a comment as a paragraph.
func sentence(comment string) string {
	if comment == "" {
		return ""
	}
	return strings.ToUpper(comment[:1]) + comment[1:] + ".\n\n"
}

// about is the type of a column, and its default unless that is NULL.
func (c columnOfTable) about() string {
	if c.byDefault == "NULL" {
		return c.typed
	}
	return c.typed + ", " + c.byDefault
}

// columnsOf lists table or view, whether it is a view, column, type, default,
// whether NULL is refused, and whether the database counts.
var columnsOf = map[string]string{
	"postgres": `SELECT c.table_name, t.table_type = 'VIEW', c.column_name, c.data_type, coalesce(c.column_default, ''),
			c.is_nullable = 'NO', c.is_identity = 'YES' OR coalesce(c.column_default, '') LIKE 'nextval(%'
		FROM information_schema.columns AS c JOIN information_schema.tables AS t USING (table_schema, table_name)
		WHERE table_schema = current_schema() ORDER BY c.ordinal_position`,
	"sqlite": `SELECT m.name, m.type = 'view', c.name, lower(c.type), coalesce(c.dflt_value, ''), c."notnull",
			lower(c.type) = 'integer' AND c.pk = 1 OR c.name = 'counter' -- which a trigger counts
		FROM sqlite_schema AS m, pragma_table_info(m.name) AS c WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite_%' ORDER BY c.cid`,
}

func tablesOf(t *testing.T, d *storetest.Database) map[string]*tableOrView {
	t.Helper()
	rows, err := d.SQL.QueryContext(t.Context(), columnsOf[d.Kind])
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	tables := map[string]*tableOrView{}
	for rows.Next() {
		var table, column, typed, byDefault string
		var view, required, counted bool
		if err := rows.Scan(&table, &view, &column, &typed, &byDefault, &required, &counted); err != nil {
			t.Fatal(err)
		}
		if tables[table] == nil {
			tables[table] = &tableOrView{name: table, view: view}
		}
		tables[table].rows = append(tables[table].rows, columnOfTable{column, inWords(typed), defaultInWords(byDefault, inWords(typed) == "boolean", required, counted)})
	}
	if err := rows.Err(); err != nil || len(tables) < 15 {
		t.Fatalf("found %d tables only: %v", len(tables), err)
	}
	return tables
}

// inWords is a type as the page calls it.
func inWords(typed string) string {
	switch name, _, _ := strings.Cut(typed, "("); name {
	case "character varying", "varchar":
		return "text"
	case "text":
		return "long text"
	case "bigint":
		return "integer"
	case "timestamp without time zone", "timestamp":
		return "time"
	case "double precision":
		return "float"
	default:
		return name
	}
}

// defaultInWords is a default as the page calls it.
func defaultInWords(expression string, boolean, required, counted bool) string {
	literal := regexp.MustCompile(`^'[^']*'`).FindString(expression)
	switch {
	case counted:
		return "counted"
	case expression == "" && required:
		return "required"
	case expression == "":
		return "NULL"
	case literal == "''":
		return "empty"
	case literal != "":
		return "`" + strings.TrimSuffix(strings.Trim(literal, "'"), ".000000") + "`"
	case strings.Contains(expression, "clock_timestamp"), strings.Contains(expression, "'now'"), expression == "now()":
		return "now"
	case strings.Contains(expression, "random"):
		return "random"
	case boolean:
		return map[string]string{"0": "`false`", "1": "`true`", "false": "`false`", "true": "`true`"}[expression]
	}
	return "`" + expression + "`"
}

// The page has the variables that commands get.
func TestReferenceOfVariables(t *testing.T) {
	t.Parallel()
	variable := regexp.MustCompile(`\b(NEXTRUN_[A-Z_]+[A-Z]|TRACEPARENT)\b`)
	used := func(text string) []string {
		return slices.Compact(slices.Sorted(slices.Values(variable.FindAllString(text, -1))))
	}
	_, section, _ := strings.Cut(readFile(t, referencePage), "\n## Environment variables\n")
	section, _, _ = strings.Cut(section, "\n## ")
	want := used(readFile(t, "../../jobqueue/handlers/command.go") + readFile(t, "../../jobqueue/hooks/action.go"))
	if have := used(section); !slices.Equal(have, want) {
		t.Errorf("%s has the variables\n%q, the code\n%q", referencePage, have, want)
	}
}
