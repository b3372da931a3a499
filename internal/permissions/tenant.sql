-- The tenant {{role .Name}} of nextrun on PostgreSQL. It adds and changes tasks whose ids begin
-- with {{literal .IDs}}, for the handlers named below, and sees what became of them. Run this as the
-- owner of the tables or as a superuser, after the script of the roles; once more to change
-- the handlers.
BEGIN;
SET LOCAL search_path = {{schema}};
SET LOCAL client_min_messages = warning;
SET LOCAL lock_timeout = '10s'; -- rather fail than hold up those who work

{{create .Name}}
GRANT USAGE ON SCHEMA {{schema}} TO {{role .Name}};
REVOKE ALL ON {{tables}}
  FROM {{role .Name}};

-- What a tenant may say of a task: neither its mark (worker, marked), nor its plan (due,
-- nextrun), nor the queue that it feeds (sink). It disables tasks, and cannot delete them: who may
-- delete from a table may lock all of it.
GRANT SELECT ON periodic_task TO {{role .Name}};
GRANT INSERT (
  {{columns}}
) ON periodic_task TO {{role .Name}};
GRANT UPDATE (
  {{changeable}}
) ON periodic_task TO {{role .Name}};
-- It skips and moves single ticks of them; who undoes that is the editor, or the operator.
GRANT SELECT, INSERT (task_id, due, moved_to, reason, who), UPDATE (moved_to, reason, who) ON periodic_override TO {{role .Name}};
GRANT SELECT ON periodic_calendar, periodic_calendar_edition, periodic_tick, job, joblog TO {{role .Name}};

-- Row security is for everybody but the owner, whose rights the triggers have. The other
-- roles see all rows, as before.
{{range secured}}
ALTER TABLE {{.}} ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS nextrun_all ON {{.}};
CREATE POLICY nextrun_all ON {{.}}
  TO {{every}}
  USING (true);
DROP POLICY IF EXISTS {{role $.Name}} ON {{.}};
{{- end}}

CREATE POLICY {{role .Name}} ON periodic_task TO {{role .Name}}
  USING (starts_with(id, {{literal .IDs}}))
  WITH CHECK (starts_with(id, {{literal .IDs}}) AND group_ = {{literal .Group}} AND sink = 'job'
    AND task IN ({{literals .Handlers}}));
CREATE POLICY {{role .Name}} ON periodic_override TO {{role .Name}} USING (starts_with(task_id, {{literal .IDs}}));
CREATE POLICY {{role .Name}} ON periodic_tick FOR SELECT TO {{role .Name}} USING (starts_with(task_id, {{literal .IDs}}));
CREATE POLICY {{role .Name}} ON job FOR SELECT TO {{role .Name}} USING (starts_with(tracker, {{literal .IDs}}) AND group_ = {{literal .Group}});
CREATE POLICY {{role .Name}} ON joblog FOR SELECT TO {{role .Name}} USING (jid IN (SELECT jid FROM job));

COMMIT;
