// Package permissions holds the commands that print the SQL for roles of PostgreSQL.
package permissions
