-- A pause after failures without probe_delay has no end: somebody resumes the task.

-- +goose Up
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION nextrun_task_outcome(of_task text, of_due timestamp, failed boolean, said text, ended timestamp) RETURNS void
LANGUAGE plpgsql SET search_path TO pg_catalog, pg_temp AS $$
DECLARE
  t    record;
  here timestamp;
  turn text;
  own  boolean;
BEGIN
  SELECT failures, pause_after, paused, paused_until, paused_by INTO t
    FROM {{schema}}.periodic_task WHERE id = of_task FOR NO KEY UPDATE;
  IF NOT FOUND OR (NOT failed AND t.failures = 0) THEN
    RETURN;
  END IF;
  here := CASE WHEN ended BETWEEN '1970-01-01' AND '9000-01-01' THEN ended ELSE clock_timestamp() AT TIME ZONE 'UTC' END;
  own := t.paused IS NOT NULL AND t.paused_by IS NOT DISTINCT FROM 'nextrun';
  IF NOT failed THEN
    turn := 'recovered';
    UPDATE {{schema}}.periodic_task SET failures = 0, paused = CASE WHEN own THEN NULL ELSE paused END WHERE id = of_task;
  ELSE
    turn := CASE WHEN t.failures = 0 THEN 'failing' END;
    UPDATE {{schema}}.periodic_task SET failures = least(failures, 2147483646) + 1 WHERE id = of_task;
    IF t.failures + 1 >= t.pause_after AND (own OR t.paused IS NULL OR t.paused_until <= here) THEN
      IF NOT own THEN
        turn := concat_ws(', ', turn, 'paused');
      END IF;
      UPDATE {{schema}}.periodic_task
         SET paused        = CASE WHEN own THEN paused ELSE here END,
             paused_until  = CASE WHEN probe_delay IS NOT NULL THEN here + make_interval(secs => least(probe_delay * power(2::double precision, least(failures - pause_after, 30)), greatest(86400, probe_delay))) END,
             paused_by     = 'nextrun',
             paused_reason = left(format('paused after %s %s in a row; the last: %s', failures,
               CASE failures WHEN 1 THEN 'failure' ELSE 'failures' END, coalesce(nullif(translate(said, E'\n\r\t', '   '), ''), 'it did not say why')), 254)
       WHERE id = of_task;
    END IF;
  END IF;
  IF turn IS NOT NULL THEN
    UPDATE {{schema}}.periodic_tick SET turned = turn WHERE task_id = of_task AND due = of_due;
  END IF;
END $$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION nextrun_task_outcome(of_task text, of_due timestamp, failed boolean, said text, ended timestamp) RETURNS void
LANGUAGE plpgsql SET search_path TO pg_catalog, pg_temp AS $$
DECLARE
  t    record;
  here timestamp;
  turn text;
  own  boolean;
BEGIN
  SELECT failures, pause_after, paused, paused_until, paused_by INTO t
    FROM {{schema}}.periodic_task WHERE id = of_task FOR NO KEY UPDATE;
  IF NOT FOUND OR (NOT failed AND t.failures = 0) THEN
    RETURN;
  END IF;
  here := CASE WHEN ended BETWEEN '1970-01-01' AND '9000-01-01' THEN ended ELSE clock_timestamp() AT TIME ZONE 'UTC' END;
  own := t.paused IS NOT NULL AND t.paused_by IS NOT DISTINCT FROM 'nextrun';
  IF NOT failed THEN
    turn := 'recovered';
    UPDATE {{schema}}.periodic_task SET failures = 0, paused = CASE WHEN own THEN NULL ELSE paused END WHERE id = of_task;
  ELSE
    turn := CASE WHEN t.failures = 0 THEN 'failing' END;
    UPDATE {{schema}}.periodic_task SET failures = least(failures, 2147483646) + 1 WHERE id = of_task;
    IF t.failures + 1 >= t.pause_after AND (own OR t.paused IS NULL OR t.paused_until <= here) THEN
      IF NOT own THEN
        turn := concat_ws(', ', turn, 'paused');
      END IF;
      UPDATE {{schema}}.periodic_task
         SET paused        = CASE WHEN own THEN paused ELSE here END,
             paused_until  = here + make_interval(secs => least(probe_delay * power(2::double precision, least(failures - pause_after, 30)), greatest(86400, probe_delay))),
             paused_by     = 'nextrun',
             paused_reason = left(format('paused after %s %s in a row; the last: %s', failures,
               CASE failures WHEN 1 THEN 'failure' ELSE 'failures' END, coalesce(nullif(translate(said, E'\n\r\t', '   '), ''), 'it did not say why')), 254)
       WHERE id = of_task;
    END IF;
  END IF;
  IF turn IS NOT NULL THEN
    UPDATE {{schema}}.periodic_tick SET turned = turn WHERE task_id = of_task AND due = of_due;
  END IF;
END $$;
-- +goose StatementEnd
