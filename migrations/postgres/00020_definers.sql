-- The functions of triggers look for operators, types and functions in pg_catalog only. Before, they
-- looked in nextrun's schema, too: whoever may create there, as everybody may in the schema public of
-- PostgreSQL 13 and 14, could make an operator for varchar, which fits ids better than the one of
-- PostgreSQL for text. It ran with the rights of the tables' owner.

-- +goose Up
-- +goose StatementBegin
DO $$
DECLARE
  schema CONSTANT text := quote_ident(current_schema());
  path   CONSTANT text := current_setting('search_path');
  f regprocedure;
BEGIN
  PERFORM set_config('search_path', 'pg_catalog, pg_temp', true); -- for this block, too
  FOR f IN SELECT oid FROM pg_proc WHERE pronamespace = schema::regnamespace AND proname LIKE 'nextrun\_%'
              AND prorettype = 'trigger'::regtype AND schema || ', pg_temp' = (SELECT substr(s, 13) FROM unnest(proconfig) AS s WHERE s LIKE 'search\_path=%') LOOP
    EXECUTE regexp_replace(pg_get_functiondef(f),
      '(\m(?:FROM|INTO|UPDATE) |:= )(periodic_task|periodic_tick|periodic_ready|scheduler_lock|nextrun_args_problem\()', '\1' || schema || '.\2', 'g');
    EXECUTE format('ALTER FUNCTION %s SET search_path = pg_catalog, pg_temp', f);
  END LOOP;
  PERFORM set_config('search_path', path, true);
END $$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
DO $$
DECLARE
  schema CONSTANT text := quote_ident(current_schema());
  f regprocedure;
BEGIN
  FOR f IN SELECT oid FROM pg_proc WHERE pronamespace = schema::regnamespace AND proname LIKE 'nextrun\_%' AND proname NOT LIKE 'nextrun\_ended\_%'
              AND prorettype = 'trigger'::regtype AND 'search_path=pg_catalog, pg_temp' = ANY (proconfig) LOOP
    EXECUTE replace(replace(replace(replace(pg_get_functiondef(f), 'FROM ' || schema || '.', 'FROM '), 'INTO ' || schema || '.', 'INTO '),
      'UPDATE ' || schema || '.', 'UPDATE '), ':= ' || schema || '.', ':= ');
    EXECUTE format('ALTER FUNCTION %s SET search_path = %s, pg_temp', f, schema);
  END LOOP;
END $$;
-- +goose StatementEnd
