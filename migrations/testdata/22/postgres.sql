CREATE FUNCTION public.nextrun_args_problem(args text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    AS $$
DECLARE
  detail text;
BEGIN
  IF args <> '{}' THEN
    PERFORM args::json;
  END IF;
  RETURN NULL;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
  RETURN 'warning: args is not JSON: ' || left(coalesce(nullif(detail, ''), 'it is nested too deeply'), 200);
END $$;
CREATE FUNCTION public.nextrun_event_added() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  PERFORM pg_notify('nextrun_event', '');
  RETURN NULL;
END $$;
CREATE FUNCTION public.nextrun_job_added() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  PERFORM pg_notify('nextrun_job', '');
  RETURN NULL;
END $$;
CREATE FUNCTION public.nextrun_job_ended() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM public.periodic_task WHERE id = OLD.tracker AND overlap IN ('queue', 'replace'))
     OR EXISTS (SELECT 1 FROM public.periodic_tick WHERE task_id = OLD.tracker AND decision = 'queued') THEN
    INSERT INTO public.periodic_ready (task_id) VALUES (OLD.tracker);
    PERFORM pg_notify('nextrun_task', '');
  END IF;
  RETURN NULL;
END $$;
CREATE FUNCTION public.nextrun_jobs_gone() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  INSERT INTO public.periodic_ready (task_id) SELECT DISTINCT task_id FROM public.periodic_tick WHERE decision = 'queued';
  PERFORM pg_notify('nextrun_task', '');
  RETURN NULL;
END $$;
CREATE FUNCTION public.nextrun_lock_kept() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    RAISE EXCEPTION 'scheduler_lock keeps the tokens of the locks, which must only rise; to release a lock use: nextrun lock release'
      USING ERRCODE = 'restrict_violation', TABLE = 'scheduler_lock';
  END IF;
  UPDATE public.scheduler_lock SET expires = '1970-01-01' WHERE name = OLD.name AND expires > '1970-01-01';
  RETURN NULL;
END $$;
CREATE FUNCTION public.nextrun_lock_released() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  PERFORM pg_notify('nextrun_lock', '');
  RETURN NULL;
END $$;
CREATE FUNCTION public.nextrun_open_ended() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    INSERT INTO public.periodic_ready (task_id) SELECT DISTINCT task_id FROM public.periodic_tick WHERE decision = 'queued';
  ELSE
    INSERT INTO public.periodic_ready (task_id) SELECT task_id FROM ended
     WHERE EXISTS (SELECT 1 FROM public.periodic_task AS t WHERE t.id = ended.task_id AND t.overlap IN ('queue', 'replace'))
        OR EXISTS (SELECT 1 FROM public.periodic_tick AS k WHERE k.task_id = ended.task_id AND k.decision = 'queued');
  END IF;
  IF FOUND THEN
    PERFORM pg_notify('nextrun_task', '');
  END IF;
  RETURN NULL;
END $$;
CREATE FUNCTION public.nextrun_task_added() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  NEW.problem := public.nextrun_args_problem(NEW.args);
  PERFORM pg_notify('nextrun_task', '');
  RETURN NEW;
END $$;
CREATE FUNCTION public.nextrun_task_changed() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  NEW.changed := clock_timestamp() AT TIME ZONE 'UTC';
  RETURN NEW;
END $$;
CREATE FUNCTION public.nextrun_task_edited() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  NEW.worker := NULL;
  NEW.marked := NULL;
  -- Parsing args again costs more than all the rest.
  IF NEW.args IS DISTINCT FROM OLD.args OR OLD.problem NOT LIKE 'warning: args is not JSON%' THEN
    NEW.problem := public.nextrun_args_problem(NEW.args);
  ELSE
    NEW.problem := OLD.problem;
  END IF;
  IF NEW.nextrun IS DISTINCT FROM OLD.nextrun THEN
    NEW.due := NULL;
  ELSIF NEW.timer IS DISTINCT FROM OLD.timer
     OR NEW.starts IS DISTINCT FROM OLD.starts
     OR NEW.ends IS DISTINCT FROM OLD.ends
     OR (NEW.enabled AND NOT OLD.enabled)
     OR OLD.due >= '9999-12-31 23:59:59' THEN
    NEW.due := NULL;
    NEW.nextrun := '1970-01-01 00:00:00';
  END IF;
  PERFORM pg_notify('nextrun_task', '');
  RETURN NEW;
END $$;
CREATE FUNCTION public.nextrun_task_marked() RETURNS trigger
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
  seen boolean;
BEGIN
  EXECUTE format('SELECT EXISTS (SELECT 1 FROM %s WHERE ctid = $1)', TG_RELID::regclass) INTO seen USING OLD.ctid;
  IF NOT seen THEN
    RETURN NULL;
  END IF;
  RETURN NEW;
END $_$;
CREATE FUNCTION public.nextrun_task_paused() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF NEW.paused NOT BETWEEN '1970-01-01' AND '9999-12-31 23:59:59.999999' THEN
    RAISE EXCEPTION 'periodic_task %: paused % is out of range; to pause the task set it to the current UTC time (paused_until says when the pause ends), to resume it set it to NULL', NEW.id, NEW.paused
      USING ERRCODE = 'check_violation', COLUMN = 'paused', TABLE = 'periodic_task';
  END IF;
  IF NEW.paused_until NOT BETWEEN '1970-01-01' AND '9999-12-31 23:59:59.999999' THEN
    RAISE EXCEPTION 'periodic_task %: paused_until % is out of range; use a UTC time between 1970-01-01 and 9999-12-31, or NULL', NEW.id, NEW.paused_until
      USING ERRCODE = 'check_violation', COLUMN = 'paused_until', TABLE = 'periodic_task';
  END IF;
  IF TG_OP = 'UPDATE' THEN
    IF NEW.paused IS NULL AND OLD.paused IS NOT NULL THEN
      NEW.paused_until := NULL;
      NEW.paused_by := NULL;
      NEW.paused_reason := NULL;
    ELSIF NEW.paused IS DISTINCT FROM OLD.paused AND NEW.paused_until <= NEW.paused AND NEW.paused_until = OLD.paused_until THEN
      NEW.paused_until := NULL;
    END IF;
    NEW.worker := NULL;
    NEW.marked := NULL;
    IF EXISTS (SELECT 1 FROM public.periodic_tick WHERE task_id = NEW.id AND decision = 'queued') THEN
      INSERT INTO public.periodic_ready (task_id) VALUES (NEW.id);
    END IF;
    PERFORM pg_notify('nextrun_task', '');
  END IF;
  RETURN NEW;
END $$;
CREATE FUNCTION public.nextrun_task_removed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  gone CONSTANT text := 'the task was deleted while the tick waited';
BEGIN
  IF TG_OP = 'DELETE' THEN
    UPDATE public.periodic_tick AS k SET decision = 'skipped', reason = gone, decided = clock_timestamp() AT TIME ZONE 'UTC'
      FROM removed
     WHERE k.task_id = removed.id AND k.decision = 'queued'
       AND NOT EXISTS (SELECT 1 FROM public.periodic_task AS t WHERE t.id = removed.id);
  ELSIF TG_OP = 'UPDATE' THEN
    UPDATE public.periodic_tick AS k SET decision = 'skipped', reason = gone, decided = clock_timestamp() AT TIME ZONE 'UTC'
     WHERE k.task_id = OLD.id AND k.decision = 'queued'
       AND NOT EXISTS (SELECT 1 FROM public.periodic_task AS t WHERE t.id = OLD.id);
  ELSE
    UPDATE public.periodic_tick AS k SET decision = 'skipped', reason = gone, decided = clock_timestamp() AT TIME ZONE 'UTC'
     WHERE k.decision = 'queued';
  END IF;
  RETURN NULL;
END $$;
CREATE FUNCTION public.nextrun_task_times() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF NEW.nextrun NOT BETWEEN '1970-01-01' AND '9999-12-31 23:59:59.999999' THEN
    RAISE EXCEPTION 'periodic_task %: nextrun % is out of range; use a UTC time between 1970-01-01 and 9999-12-31', NEW.id, NEW.nextrun
      USING ERRCODE = 'check_violation', COLUMN = 'nextrun', TABLE = 'periodic_task';
  END IF;
  IF NEW.starts NOT BETWEEN '1970-01-01' AND '9999-12-31 23:59:59.999999' THEN
    RAISE EXCEPTION 'periodic_task %: starts % is out of range; use a UTC time between 1970-01-01 and 9999-12-31, or NULL', NEW.id, NEW.starts
      USING ERRCODE = 'check_violation', COLUMN = 'starts', TABLE = 'periodic_task';
  END IF;
  IF NEW.ends NOT BETWEEN '1970-01-01' AND '9999-12-31 23:59:59.999999' THEN
    RAISE EXCEPTION 'periodic_task %: ends % is out of range; use a UTC time between 1970-01-01 and 9999-12-31, or NULL', NEW.id, NEW.ends
      USING ERRCODE = 'check_violation', COLUMN = 'ends', TABLE = 'periodic_task';
  END IF;
  RETURN NEW;
END $$;
CREATE FUNCTION public.nextrun_tick_queues() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  -- The IF keeps a lock on periodic_ready from holding up ticks that do not queue.
  IF EXISTS (SELECT 1 FROM added WHERE decision = 'queued') THEN
    INSERT INTO public.periodic_ready (task_id) SELECT DISTINCT task_id FROM added WHERE decision = 'queued';
  END IF;
  RETURN NULL;
END $$;
CREATE TABLE public.event_aggregate (
    id character varying(254) NOT NULL,
    version bigint NOT NULL
);
COMMENT ON TABLE public.event_aggregate IS 'the version of the newest event of each aggregate; its row lock puts writers in line';
CREATE TABLE public.event_offset (
    group_ character varying(254) NOT NULL,
    topic character varying(254) NOT NULL,
    "position" bigint DEFAULT 0 NOT NULL,
    holder character varying(254),
    token bigint DEFAULT 0 NOT NULL,
    expires timestamp without time zone,
    attempts integer DEFAULT 0 NOT NULL,
    problem text,
    retry timestamp without time zone,
    updated timestamp without time zone DEFAULT (clock_timestamp() AT TIME ZONE 'UTC'::text) NOT NULL
);
COMMENT ON TABLE public.event_offset IS 'how far each consumer group has read each topic, and which member reads it now';
CREATE TABLE public.event_store (
    id character varying(254) NOT NULL,
    seq bigint NOT NULL,
    topic character varying(254) NOT NULL,
    type character varying(254) NOT NULL,
    aggregate_id character varying(254) NOT NULL,
    aggregate_version bigint NOT NULL,
    payload text DEFAULT '{}'::text NOT NULL,
    due timestamp without time zone,
    created timestamp without time zone DEFAULT (clock_timestamp() AT TIME ZONE 'UTC'::text) NOT NULL,
    "position" bigint,
    traceparent text,
    CONSTRAINT nextrun_version_positive CHECK ((aggregate_version > 0))
);
COMMENT ON TABLE public.event_store IS 'what happened; rows are never changed, but for their position';
COMMENT ON COLUMN public.event_store.seq IS 'order of appending; transactions may commit in another one';
COMMENT ON COLUMN public.event_store.aggregate_version IS 'rises by one without gaps within an aggregate, see event_aggregate';
COMMENT ON COLUMN public.event_store.due IS 'the tick of the periodic task (aggregate_id) that this event is for, UTC';
COMMENT ON COLUMN public.event_store."position" IS 'place within the topic, given after the commit, without gaps; NULL: not yet';
COMMENT ON COLUMN public.event_store.traceparent IS 'the W3C traceparent of who appended the event; NULL: none';
ALTER TABLE public.event_store ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.event_store_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.event_topic (
    topic character varying(254) NOT NULL,
    "position" bigint DEFAULT 0 NOT NULL
);
COMMENT ON TABLE public.event_topic IS 'the last position given in each topic; its row lock puts those who give positions in line';
CREATE TABLE public.job (
    jid character varying(254) DEFAULT (gen_random_uuid())::text NOT NULL,
    task character varying(254) NOT NULL,
    group_ character varying(254) DEFAULT 'default'::character varying NOT NULL,
    args text DEFAULT '{}'::text NOT NULL,
    subject character varying(254) DEFAULT ''::character varying NOT NULL,
    submitted timestamp without time zone DEFAULT (clock_timestamp() AT TIME ZONE 'UTC'::text) NOT NULL,
    submitter character varying(254) DEFAULT 'nextrun'::character varying NOT NULL,
    priority integer DEFAULT 0 NOT NULL,
    state character varying(254) DEFAULT 'waiting'::character varying NOT NULL,
    retries integer DEFAULT 0 NOT NULL,
    progress integer DEFAULT 0 NOT NULL,
    tracker character varying(254),
    worker character varying(254),
    started timestamp without time zone,
    startedmillis bigint,
    finished timestamp without time zone,
    due timestamp without time zone,
    heartbeat timestamp without time zone,
    single boolean DEFAULT false NOT NULL,
    cancel timestamp without time zone,
    retry timestamp without time zone,
    result text,
    interrupts integer DEFAULT 0 NOT NULL,
    retry_limit integer,
    retry_delay integer,
    timeout integer,
    concurrency integer,
    traceparent text,
    CONSTRAINT nextrun_job_concurrency CHECK (((concurrency >= 1) AND (concurrency <= 1000000))),
    CONSTRAINT nextrun_job_retry_delay CHECK (((retry_delay >= 1) AND (retry_delay <= 31536000))),
    CONSTRAINT nextrun_job_retry_limit CHECK (((retry_limit >= 0) AND (retry_limit <= 1000000))),
    CONSTRAINT nextrun_job_timeout CHECK (((timeout >= 1) AND (timeout <= 31536000)))
);
COMMENT ON COLUMN public.job.due IS 'the tick of the periodic task (tracker) that this job is for, UTC';
COMMENT ON COLUMN public.job.heartbeat IS 'last sign of life of the worker, UTC; NULL: another kind of executor has it';
COMMENT ON COLUMN public.job.single IS 'at most one such job per tracker is not final';
COMMENT ON COLUMN public.job.cancel IS 'when cancellation was asked for, UTC';
COMMENT ON COLUMN public.job.retry IS 'a waiting job does not begin before this time, a stuck one is tried again then, UTC';
COMMENT ON COLUMN public.job.result IS 'what the handler said at the end: a message, or the error';
COMMENT ON COLUMN public.job.interrupts IS 'how often the worker of the running job died or lost it';
COMMENT ON COLUMN public.job.retry_limit IS 'how often it is tried again; NULL: as its handler or executor says';
COMMENT ON COLUMN public.job.retry_delay IS 'seconds before the first retry; NULL: as its handler or executor says';
COMMENT ON COLUMN public.job.timeout IS 'seconds that an attempt may take; NULL: as its handler says';
COMMENT ON COLUMN public.job.concurrency IS 'it begins only while fewer jobs of its tracker that have such a limit run; NULL: no limit';
COMMENT ON COLUMN public.job.traceparent IS 'the W3C traceparent of who submitted the job; NULL: none';
CREATE TABLE public.job_limit (
    kind character varying(16) NOT NULL,
    name character varying(254) NOT NULL,
    most integer NOT NULL,
    CONSTRAINT nextrun_limit_kind CHECK (((kind)::text = ANY ((ARRAY['group'::character varying, 'task'::character varying])::text[]))),
    CONSTRAINT nextrun_limit_most CHECK (((most >= 1) AND (most <= 1000000)))
);
COMMENT ON TABLE public.job_limit IS 'how many jobs of a group or a task run at once, over all executors';
CREATE TABLE public.job_pause (
    kind character varying(16) NOT NULL,
    name character varying(254) NOT NULL,
    since timestamp without time zone NOT NULL,
    CONSTRAINT nextrun_pause_kind CHECK (((kind)::text = ANY ((ARRAY['group'::character varying, 'task'::character varying])::text[])))
);
COMMENT ON TABLE public.job_pause IS 'groups and tasks of which executors claim no job';
CREATE TABLE public.jobgroupuse (
    groupid character varying(254) NOT NULL,
    workerid character varying(254) NOT NULL
);
CREATE TABLE public.joblog (
    id character varying(254) NOT NULL,
    jid character varying(254) NOT NULL,
    level character varying(254) NOT NULL,
    created timestamp without time zone NOT NULL,
    message text NOT NULL,
    counter bigint NOT NULL
);
CREATE SEQUENCE public.joblog_counter_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.joblog_counter_seq OWNED BY public.joblog.counter;
CREATE TABLE public.nextrun_found (
    name character varying(254) NOT NULL
);
COMMENT ON TABLE public.nextrun_found IS 'what existed before nextrun; migrate down leaves it alone';
CREATE TABLE public.nextrun_migration (
    id integer NOT NULL,
    version_id bigint NOT NULL,
    is_applied boolean NOT NULL,
    tstamp timestamp without time zone DEFAULT now() NOT NULL
);
ALTER TABLE public.nextrun_migration ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.nextrun_migration_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.outbox_message (
    id bigint NOT NULL,
    event_id character varying(254) NOT NULL,
    topic character varying(254) NOT NULL,
    created timestamp without time zone DEFAULT (clock_timestamp() AT TIME ZONE 'UTC'::text) NOT NULL,
    published timestamp without time zone,
    attempts integer DEFAULT 0 NOT NULL,
    refusals integer DEFAULT 0 NOT NULL,
    problem text,
    retry timestamp without time zone,
    dead timestamp without time zone
);
COMMENT ON COLUMN public.outbox_message.published IS 'when the receiver had accepted it, UTC; NULL: to be published';
COMMENT ON COLUMN public.outbox_message.attempts IS 'how often it was tried in vain';
COMMENT ON COLUMN public.outbox_message.refusals IS 'how many of the attempts the receiver refused for good';
COMMENT ON COLUMN public.outbox_message.problem IS 'why the last attempt was in vain';
COMMENT ON COLUMN public.outbox_message.retry IS 'not tried again before, UTC';
COMMENT ON COLUMN public.outbox_message.dead IS 'when it was set aside, UTC; it is not tried again';
CREATE VIEW public.outbox_lag AS
 SELECT outbox_message.topic,
    count(*) FILTER (WHERE (outbox_message.dead IS NULL)) AS pending,
    min(outbox_message.created) FILTER (WHERE (outbox_message.dead IS NULL)) AS oldest,
    (GREATEST(EXTRACT(epoch FROM ((clock_timestamp() AT TIME ZONE 'UTC'::text) - min(outbox_message.created) FILTER (WHERE ((outbox_message.dead IS NULL) AND isfinite(outbox_message.created))))), (0)::numeric))::double precision AS age,
    count(*) FILTER (WHERE (outbox_message.dead IS NOT NULL)) AS dead
   FROM public.outbox_message
  WHERE (outbox_message.published IS NULL)
  GROUP BY outbox_message.topic;
COMMENT ON VIEW public.outbox_lag IS 'per topic: messages to be published, since when the oldest waits (UTC), for how many seconds, and how many are dead';
ALTER TABLE public.outbox_message ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.outbox_message_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.outbox_topic (
    topic character varying(254) NOT NULL,
    strict boolean DEFAULT false NOT NULL,
    holder character varying(254),
    token bigint DEFAULT 0 NOT NULL,
    expires timestamp without time zone
);
COMMENT ON COLUMN public.outbox_topic.strict IS 'a dead message stops the topic, so that none is published out of order';
COMMENT ON COLUMN public.outbox_topic.holder IS 'the relay that publishes the topic until expires; token rises with each lease';
CREATE TABLE public.periodic_action (
    id bigint NOT NULL,
    at timestamp without time zone DEFAULT (clock_timestamp() AT TIME ZONE 'UTC'::text) NOT NULL,
    who character varying(254) NOT NULL,
    action character varying(32) NOT NULL,
    task_id character varying(254),
    jid character varying(254),
    detail character varying(1000)
);
COMMENT ON TABLE public.periodic_action IS 'what people did, one row for each change; rows are only added, and deleted with old ticks';
COMMENT ON COLUMN public.periodic_action.at IS 'when, UTC';
COMMENT ON COLUMN public.periodic_action.who IS 'a user of the dashboard, or USER@host of a command';
COMMENT ON COLUMN public.periodic_action.action IS 'such as pause, resume, run, change, cancel, retry, resend';
COMMENT ON COLUMN public.periodic_action.task_id IS 'id of the task; it may not exist any more';
COMMENT ON COLUMN public.periodic_action.jid IS 'id of the job or event';
COMMENT ON COLUMN public.periodic_action.detail IS 'more about it, for people';
ALTER TABLE public.periodic_action ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.periodic_action_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.periodic_task (
    id character varying(254) NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    task character varying(254) NOT NULL,
    group_ character varying(254) DEFAULT 'default'::character varying NOT NULL,
    args text DEFAULT '{}'::text NOT NULL,
    subject character varying(254) DEFAULT ''::character varying NOT NULL,
    submitter character varying(254) DEFAULT 'nextrun'::character varying NOT NULL,
    priority integer DEFAULT 0 NOT NULL,
    worker character varying(254),
    marked timestamp without time zone,
    timer character varying(254) NOT NULL,
    nextrun timestamp without time zone DEFAULT '1970-01-01 00:00:00'::timestamp without time zone NOT NULL,
    created timestamp without time zone DEFAULT (clock_timestamp() AT TIME ZONE 'UTC'::text) NOT NULL,
    summary character varying(254),
    due timestamp without time zone,
    starts timestamp without time zone,
    ends timestamp without time zone,
    overlap character varying(16) DEFAULT 'skip'::character varying NOT NULL,
    catchup character varying(16) DEFAULT 'one'::character varying NOT NULL,
    grace integer DEFAULT 60 NOT NULL,
    deadline integer,
    jitter integer DEFAULT 0 NOT NULL,
    sink character varying(64) DEFAULT 'job'::character varying NOT NULL,
    problem text,
    retry_limit integer,
    retry_delay integer,
    timeout integer,
    concurrency integer,
    paused timestamp without time zone,
    paused_until timestamp without time zone,
    paused_by character varying(254),
    paused_reason character varying(254),
    changed timestamp without time zone,
    CONSTRAINT nextrun_bounds CHECK ((starts < ends)),
    CONSTRAINT nextrun_catchup CHECK (((catchup)::text = ANY ((ARRAY['one'::character varying, 'none'::character varying, 'all'::character varying])::text[]))),
    CONSTRAINT nextrun_concurrency CHECK (((concurrency >= 1) AND (concurrency <= 1000000))),
    CONSTRAINT nextrun_deadline CHECK ((deadline >= 0)),
    CONSTRAINT nextrun_grace CHECK ((grace >= 0)),
    CONSTRAINT nextrun_jitter CHECK ((jitter >= 0)),
    CONSTRAINT nextrun_overlap CHECK (((overlap)::text = ANY ((ARRAY['skip'::character varying, 'queue'::character varying, 'replace'::character varying, 'allow'::character varying])::text[]))),
    CONSTRAINT nextrun_retry_delay CHECK (((retry_delay >= 1) AND (retry_delay <= 31536000))),
    CONSTRAINT nextrun_retry_limit CHECK (((retry_limit >= 0) AND (retry_limit <= 1000000))),
    CONSTRAINT nextrun_sink CHECK (((sink)::text ~ '^[a-z][a-z0-9_-]{0,63}$'::text)),
    CONSTRAINT nextrun_timeout CHECK (((timeout >= 1) AND (timeout <= 31536000)))
);
COMMENT ON COLUMN public.periodic_task.nextrun IS 'next submission, UTC: due + jitter. 1970-01-01: not planned yet; 9999-12-31 23:59:59: never. Set it to run the task then';
COMMENT ON COLUMN public.periodic_task.due IS 'nominal time of the planned tick, UTC; written by the scheduler only';
COMMENT ON COLUMN public.periodic_task.starts IS 'no tick is due before it, UTC';
COMMENT ON COLUMN public.periodic_task.ends IS 'no tick is due at it or later, UTC';
COMMENT ON COLUMN public.periodic_task.overlap IS 'while a job of this task is not final: skip, queue, replace, allow';
COMMENT ON COLUMN public.periodic_task.catchup IS 'of ticks that were missed submit: one, none, all';
COMMENT ON COLUMN public.periodic_task.grace IS 'seconds; with catchup none a tick older than that is missed';
COMMENT ON COLUMN public.periodic_task.deadline IS 'seconds after due beyond which a tick is not submitted; NULL: never';
COMMENT ON COLUMN public.periodic_task.jitter IS 'seconds; greatest random delay of a tick';
COMMENT ON COLUMN public.periodic_task.sink IS 'job: submit a job; event: write an event to the outbox; else a queue of the configuration';
COMMENT ON COLUMN public.periodic_task.problem IS 'what is wrong with this row; cleared by the next edit';
COMMENT ON COLUMN public.periodic_task.retry_limit IS 'how often a failed job of the task is tried again; NULL: as its handler or executor says';
COMMENT ON COLUMN public.periodic_task.retry_delay IS 'seconds before the first retry; NULL: as its handler or executor says';
COMMENT ON COLUMN public.periodic_task.timeout IS 'seconds that an attempt may take; NULL: as its handler says';
COMMENT ON COLUMN public.periodic_task.concurrency IS 'how many jobs of the task may run at once; NULL: any number';
COMMENT ON COLUMN public.periodic_task.paused IS 'since when the task is paused, UTC: what falls due is skipped; NULL: it is not paused';
COMMENT ON COLUMN public.periodic_task.paused_until IS 'when the pause ends by itself, UTC; NULL: when somebody ends it';
COMMENT ON COLUMN public.periodic_task.paused_by IS 'who paused it, for people';
COMMENT ON COLUMN public.periodic_task.paused_reason IS 'why it is paused, for people';
COMMENT ON COLUMN public.periodic_task.changed IS 'when somebody last changed the timer, its bounds, enabled, nextrun or sink, UTC; NULL: never';
CREATE TABLE public.periodic_tick (
    task_id character varying(254) NOT NULL,
    due timestamp without time zone NOT NULL,
    decision character varying(16) NOT NULL,
    reason text,
    missed integer DEFAULT 0 NOT NULL,
    until timestamp without time zone,
    jid character varying(254),
    worker character varying(254),
    decided timestamp without time zone NOT NULL,
    CONSTRAINT nextrun_decision CHECK (((decision)::text = ANY ((ARRAY['submitted'::character varying, 'skipped'::character varying, 'queued'::character varying, 'late'::character varying, 'missed'::character varying])::text[])))
);
COMMENT ON TABLE public.periodic_tick IS 'what became of each tick that fell due';
CREATE VIEW public.periodic_health AS
 SELECT t.id,
    t.enabled,
    t.timer,
    t.nextrun,
    t.problem,
    last.due AS last_due,
    last.decision AS last_decision,
    last.reason AS last_reason,
    job.state AS last_state,
    job.finished AS last_finished,
    day.submitted AS submitted_24h,
    day.skipped AS skipped_24h,
    day.late AS late_24h,
    day.missed AS missed_24h,
    ( SELECT count(*) AS count
           FROM public.periodic_tick q
          WHERE (((q.task_id)::text = (t.id)::text) AND ((q.decision)::text = 'queued'::text))) AS queued
   FROM (((public.periodic_task t
     LEFT JOIN LATERAL ( SELECT k.task_id,
            k.due,
            k.decision,
            k.reason,
            k.missed,
            k.until,
            k.jid,
            k.worker,
            k.decided
           FROM public.periodic_tick k
          WHERE ((k.task_id)::text = (t.id)::text)
          ORDER BY k.due DESC
         LIMIT 1) last ON (true))
     LEFT JOIN public.job ON (((job.jid)::text = (last.jid)::text)))
     CROSS JOIN LATERAL ( SELECT count(*) FILTER (WHERE ((k.decision)::text = 'submitted'::text)) AS submitted,
            count(*) FILTER (WHERE ((k.decision)::text = 'skipped'::text)) AS skipped,
            count(*) FILTER (WHERE ((k.decision)::text = 'late'::text)) AS late,
            (COALESCE(sum(abs((k.missed)::bigint)) FILTER (WHERE ((k.decision)::text = 'missed'::text)), (0)::numeric))::bigint AS missed
           FROM public.periodic_tick k
          WHERE (((k.task_id)::text = (t.id)::text) AND (k.due > ((statement_timestamp() AT TIME ZONE 'UTC'::text) - '24:00:00'::interval)))) day);
COMMENT ON VIEW public.periodic_health IS 'each task with its last tick and what became of the ticks of 24 hours';
CREATE TABLE public.periodic_open (
    task_id character varying(254) NOT NULL,
    sink character varying(64) NOT NULL,
    ref text NOT NULL,
    jid character varying(254) NOT NULL,
    due timestamp without time zone NOT NULL,
    submitted timestamp without time zone NOT NULL
);
COMMENT ON TABLE public.periodic_open IS 'the newest job of each task in a queue that is not nextrun''s own; to end the wait for a job, delete its row';
CREATE VIEW public.periodic_overdue AS
 SELECT periodic_task.id,
    periodic_task.task,
    periodic_task.group_,
    periodic_task.timer,
    periodic_task.due,
    periodic_task.nextrun,
    ((statement_timestamp() AT TIME ZONE 'UTC'::text) - GREATEST(periodic_task.nextrun, periodic_task.created)) AS overdue,
    periodic_task.worker,
    periodic_task.marked
   FROM public.periodic_task
  WHERE (periodic_task.enabled AND (GREATEST(periodic_task.nextrun, periodic_task.created) < ((statement_timestamp() AT TIME ZONE 'UTC'::text) - '00:00:05'::interval)) AND (periodic_task.nextrun <= (statement_timestamp() AT TIME ZONE 'UTC'::text)))
  ORDER BY GREATEST(periodic_task.nextrun, periodic_task.created);
COMMENT ON VIEW public.periodic_overdue IS 'tasks that no scheduler has taken 5 seconds after their time: empty while one is healthy';
CREATE TABLE public.periodic_ready (
    seq bigint NOT NULL,
    task_id character varying(254) NOT NULL
);
COMMENT ON TABLE public.periodic_ready IS 'tasks whose queued ticks are to be looked at';
ALTER TABLE public.periodic_ready ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.periodic_ready_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW public.periodic_stale AS
 SELECT t.id,
    t.task,
    t.group_,
    t.timer,
    e.expected,
    u.last_success,
        CASE
            WHEN ((t.sink)::text = 'job'::text) THEN 'job'::text
            ELSE 'submission'::text
        END AS judged_by,
    last.decision,
    last.reason,
    job.state
   FROM ((((((public.periodic_task t
     CROSS JOIN LATERAL ( SELECT (statement_timestamp() AT TIME ZONE 'UTC'::text) AS now) c)
     CROSS JOIN LATERAL ( SELECT max(run.done) AS last_success,
            COALESCE((array_agg(run.took ORDER BY run.took))[((count(run.took) / 2) + 1)], '00:00:00'::interval) AS usual
           FROM ( SELECT
                        CASE
                            WHEN ((t.sink)::text = 'job'::text) THEN job_1.finished
                            ELSE last_1.decided
                        END AS done,
                        CASE
                            WHEN (((job_1.finished >= last_1.decided) AND (job_1.finished <= c.now)) AND (last_1.decided > '1970-01-01 00:00:00'::timestamp without time zone)) THEN (job_1.finished - last_1.decided)
                            ELSE NULL::interval
                        END AS took
                   FROM (( SELECT k.due,
                            k.jid,
                            k.decision,
                            k.decided
                           FROM public.periodic_tick k
                          WHERE ((k.task_id)::text = (t.id)::text)
                          ORDER BY k.due DESC
                         LIMIT 1000) last_1
                     LEFT JOIN public.job job_1 ON (((job_1.jid)::text = (last_1.jid)::text)))
                  WHERE (((last_1.decision)::text = 'submitted'::text) AND (((t.sink)::text <> 'job'::text) OR ((job_1.state)::text = 'success'::text)))
                  ORDER BY last_1.due DESC
                 LIMIT 10) run) u)
     CROSS JOIN LATERAL ( SELECT ((c.now - make_interval(secs => ((60.0 + (t.jitter)::numeric))::double precision)) - ((2)::double precision * u.usual)) AS by_now) b)
     CROSS JOIN LATERAL ( SELECT
                CASE
                    WHEN (t.due <= b.by_now) THEN t.due
                    ELSE max(
                    CASE
                        WHEN (last_1.until <= b.by_now) THEN last_1.until
                        ELSE last_1.due
                    END)
                END AS expected
           FROM (( SELECT k.task_id,
                    k.due,
                    k.decision,
                    k.reason,
                    k.missed,
                    k.until,
                    k.jid,
                    k.worker,
                    k.decided
                   FROM public.periodic_tick k
                  WHERE (((k.task_id)::text = (t.id)::text) AND (k.due <= b.by_now))
                  ORDER BY k.due DESC
                 LIMIT 10) last_1
             LEFT JOIN public.job job_1 ON (((job_1.jid)::text = (last_1.jid)::text)))
          WHERE
                CASE last_1.decision
                    WHEN 'skipped'::text THEN (COALESCE(last_1.reason, ''::text) !~~ 'paused%'::text)
                    WHEN 'submitted'::text THEN (((t.sink)::text <> 'job'::text) OR (job_1.state IS NOT NULL))
                    ELSE true
                END) e)
     LEFT JOIN LATERAL ( SELECT k.task_id,
            k.due,
            k.decision,
            k.reason,
            k.missed,
            k.until,
            k.jid,
            k.worker,
            k.decided
           FROM public.periodic_tick k
          WHERE (((k.task_id)::text = (t.id)::text) AND (k.due <= e.expected) AND ((t.due <= b.by_now) IS NOT TRUE))
          ORDER BY k.due DESC
         LIMIT 1) last ON (true))
     LEFT JOIN public.job ON (((job.jid)::text = (last.jid)::text)))
  WHERE (t.enabled AND ((t.paused IS NULL) OR (t.paused_until <= c.now)) AND (e.expected IS NOT NULL) AND ((t.due <= b.by_now) OR ((u.last_success >= e.expected) IS NOT TRUE)))
  ORDER BY e.expected;
COMMENT ON VIEW public.periodic_stale IS 'tasks whose last success is older than the newest tick that must have succeeded by now';
CREATE VIEW public.periodic_upcoming AS
 SELECT periodic_task.id,
    periodic_task.task,
    periodic_task.group_,
    periodic_task.timer,
    periodic_task.due,
    periodic_task.nextrun,
    (periodic_task.nextrun - (statement_timestamp() AT TIME ZONE 'UTC'::text)) AS waits,
    periodic_task.summary
   FROM public.periodic_task
  WHERE (periodic_task.enabled AND (periodic_task.nextrun > '1970-01-01 00:00:00'::timestamp without time zone) AND (periodic_task.nextrun < '9999-12-31 23:59:59'::timestamp without time zone) AND ((periodic_task.paused IS NULL) OR (periodic_task.due IS NULL) OR (periodic_task.paused_until <= periodic_task.due)))
  ORDER BY periodic_task.nextrun;
COMMENT ON VIEW public.periodic_upcoming IS 'enabled tasks that are planned, the next one first, without those that a pause will skip';
CREATE TABLE public.scheduler_lock (
    name character varying(254) NOT NULL,
    holder character varying(254) NOT NULL,
    hostname character varying(254) NOT NULL,
    pid integer NOT NULL,
    token bigint NOT NULL,
    acquired timestamp without time zone NOT NULL,
    heartbeat timestamp without time zone NOT NULL,
    expires timestamp without time zone NOT NULL
);
COMMENT ON TABLE public.scheduler_lock IS 'one row for each lock, kept for ever: DELETE releases the lock';
CREATE TABLE public.worker_service (
    worker character varying(254) NOT NULL,
    kind character varying(32) NOT NULL,
    version character varying(254) NOT NULL,
    started timestamp without time zone NOT NULL,
    seen timestamp without time zone,
    places integer,
    lease integer,
    only_groups text,
    handlers text,
    trouble text
);
COMMENT ON TABLE public.worker_service IS 'schedulers, executors, relays and consumers that run, and what they can do';
COMMENT ON COLUMN public.worker_service.worker IS 'name@boot id, as in marks, jobs, locks and leases';
COMMENT ON COLUMN public.worker_service.kind IS 'scheduler, executor, relay or consumer';
COMMENT ON COLUMN public.worker_service.version IS 'version of the program';
COMMENT ON COLUMN public.worker_service.started IS 'when it started, UTC';
COMMENT ON COLUMN public.worker_service.seen IS 'when it last said that it lives, UTC, every 30 s; NULL: its row in worker_session, or its file, tells';
COMMENT ON COLUMN public.worker_service.places IS 'how many jobs an executor runs at once';
COMMENT ON COLUMN public.worker_service.lease IS 'seconds after which an executor takes jobs from a worker that sends no heartbeat';
COMMENT ON COLUMN public.worker_service.only_groups IS 'JSON list: the only groups of which an executor takes jobs; NULL: of all';
COMMENT ON COLUMN public.worker_service.handlers IS 'JSON list of the handlers of an executor: name, concurrency (its limit, if any), attempts (how often it tries a job at most)';
COMMENT ON COLUMN public.worker_service.trouble IS 'the error that keeps a scheduler from its work at present, if there is one';
CREATE UNLOGGED TABLE public.worker_session (
    worker character varying(254) NOT NULL,
    session character varying(64) NOT NULL,
    server timestamp without time zone NOT NULL,
    since timestamp without time zone NOT NULL,
    ended timestamp without time zone
);
COMMENT ON TABLE public.worker_session IS 'workers by whose sessions the database knows that they live; unlogged: a crash and a failover end all sessions';
COMMENT ON COLUMN public.worker_session.worker IS 'name@boot id, as in marks, jobs, locks and leases';
COMMENT ON COLUMN public.worker_session.session IS 'application_name of the session; none in pg_stat_activity: the worker has ended';
COMMENT ON COLUMN public.worker_session.server IS 'start of the server in which the session is, UTC; of another one: it means nothing';
COMMENT ON COLUMN public.worker_session.since IS 'when the session was made, UTC';
COMMENT ON COLUMN public.worker_session.ended IS 'when another worker first saw that it had ended, UTC; the row is deleted an hour later';
ALTER TABLE ONLY public.joblog ALTER COLUMN counter SET DEFAULT nextval('public.joblog_counter_seq'::regclass);
INSERT INTO public.event_store VALUES ('e', 1, 't', 'y', 'a', 1, '{}', NULL, '2026-11-24 14:41:46.089066', NULL, NULL);
INSERT INTO public.event_store VALUES ('te', 2, 't', 'y', 'ta', 1, '{}', NULL, '2026-11-24 14:41:46.091133', NULL, 'none');
INSERT INTO public.job VALUES ('old-job', 'x', 'default', '{}', '', '2026-11-24 14:41:46.085011', 'nextrun', 0, 'waiting', 0, 0, 'old', NULL, NULL, NULL, NULL, NULL, NULL, false, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.job VALUES ('limited', 'x', 'default', '{}', '', '2026-11-24 14:41:46.090266', 'nextrun', 0, 'waiting', 0, 0, 'limited', NULL, NULL, NULL, NULL, NULL, NULL, false, NULL, '2030-01-01 00:00:00', NULL, 0, 0, NULL, NULL, NULL, NULL);
INSERT INTO public.job VALUES ('traced', 'x', 'default', '{}', '', '2026-11-24 14:41:46.091052', 'nextrun', 0, 'waiting', 0, 0, 'traced', NULL, NULL, NULL, NULL, NULL, NULL, false, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01');
INSERT INTO public.job_limit VALUES ('task', 'x', 2);
INSERT INTO public.joblog VALUES ('l', 'old-job', 'info', '2026-03-04 05:06:07', 'm', 1);
INSERT INTO public.nextrun_migration VALUES (1, 0, true, '2026-11-24 20:26:45.981446');
INSERT INTO public.nextrun_migration VALUES (2, 1, true, '2026-11-24 20:26:45.984568');
INSERT INTO public.nextrun_migration VALUES (3, 2, true, '2026-11-24 20:26:45.993723');
INSERT INTO public.nextrun_migration VALUES (4, 3, true, '2026-11-24 20:26:46.003004');
INSERT INTO public.nextrun_migration VALUES (5, 4, true, '2026-11-24 20:26:46.004281');
INSERT INTO public.nextrun_migration VALUES (6, 5, true, '2026-11-24 20:26:46.013376');
INSERT INTO public.nextrun_migration VALUES (7, 6, true, '2026-11-24 20:26:46.017339');
INSERT INTO public.nextrun_migration VALUES (8, 7, true, '2026-11-24 20:26:46.024025');
INSERT INTO public.nextrun_migration VALUES (9, 8, true, '2026-11-24 20:26:46.02517');
INSERT INTO public.nextrun_migration VALUES (10, 9, true, '2026-11-24 20:26:46.026834');
INSERT INTO public.nextrun_migration VALUES (11, 10, true, '2026-11-24 20:26:46.030071');
INSERT INTO public.nextrun_migration VALUES (12, 11, true, '2026-11-24 20:26:46.03502');
INSERT INTO public.nextrun_migration VALUES (13, 12, true, '2026-11-24 20:26:46.040966');
INSERT INTO public.nextrun_migration VALUES (14, 13, true, '2026-11-24 20:26:46.045952');
INSERT INTO public.nextrun_migration VALUES (15, 14, true, '2026-11-24 20:26:46.046612');
INSERT INTO public.nextrun_migration VALUES (16, 15, true, '2026-11-24 20:26:46.047816');
INSERT INTO public.nextrun_migration VALUES (17, 16, true, '2026-11-24 20:26:46.051556');
INSERT INTO public.nextrun_migration VALUES (18, 17, true, '2026-11-24 20:26:46.05252');
INSERT INTO public.nextrun_migration VALUES (19, 18, true, '2026-11-24 20:26:46.054849');
INSERT INTO public.nextrun_migration VALUES (20, 19, true, '2026-11-24 20:26:46.055898');
INSERT INTO public.nextrun_migration VALUES (21, 20, true, '2026-11-24 20:26:46.058934');
INSERT INTO public.nextrun_migration VALUES (22, 21, true, '2026-11-24 20:26:46.063936');
INSERT INTO public.nextrun_migration VALUES (23, 22, true, '2026-11-24 20:26:46.064351');
INSERT INTO public.outbox_message VALUES (1, 'e', 't', '2026-11-24 14:41:46.089373', NULL, 0, 0, NULL, NULL, NULL);
INSERT INTO public.periodic_action OVERRIDING SYSTEM VALUE VALUES (1, '2026-11-24 14:41:46.091642', 'ada', 'pause', 'paused', NULL, NULL);
INSERT INTO public.periodic_open VALUES ('open', 'river', '1', 'j', '2026-01-01 00:00:00', '2026-01-01 00:00:00');
INSERT INTO public.periodic_ready OVERRIDING SYSTEM VALUE VALUES (1, 'old');
INSERT INTO public.periodic_task VALUES ('nextrun-housekeeping', true, 'nextrun.housekeeping', 'nextrun', '{"ticks_days": 30, "jobs_days": 30, "events_days": 30}', 'Delete old ticks, jobs and logs', 'nextrun', 0, NULL, NULL, '*-*-* 03:17', '1970-01-01 00:00:00', '2026-11-24 14:41:46.016242', 'keeps the tables small; edit the days in args, or disable it', NULL, NULL, NULL, 'skip', 'one', 60, NULL, 0, 'job', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-11-24 14:41:46.04705');
INSERT INTO public.periodic_task VALUES ('old', true, 'x', 'default', '--full', '', 'nextrun', 0, NULL, NULL, 'yearly', '1970-01-01 00:00:00', '2026-11-24 14:41:46.087308', NULL, NULL, NULL, NULL, 'queue', 'one', 60, NULL, 0, 'job', 'warning: args is not JSON: Token "-" is invalid.', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.periodic_task VALUES ('open', true, 'x', 'default', '{}', '', 'nextrun', 0, NULL, NULL, 'yearly', '1970-01-01 00:00:00', '2026-11-24 14:41:46.089869', NULL, NULL, NULL, NULL, 'skip', 'one', 60, NULL, 0, 'river', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.periodic_task VALUES ('paused', true, 'x', 'default', '{}', '', 'nextrun', 0, NULL, NULL, 'yearly', '1970-01-01 00:00:00', '2026-11-24 14:41:46.090641', NULL, NULL, NULL, NULL, 'skip', 'one', 60, NULL, 0, 'job', NULL, NULL, NULL, NULL, NULL, '2026-01-01 00:00:00', '2199-01-01 00:00:00', 'ada', 'moving', NULL);
INSERT INTO public.periodic_task VALUES ('changed', false, 'x', 'default', '{}', '', 'nextrun', 0, NULL, NULL, 'daily', '1970-01-01 00:00:00', '2026-11-24 14:41:46.091279', NULL, NULL, NULL, NULL, 'skip', 'one', 60, NULL, 0, 'job', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-01-01 00:00:00');
INSERT INTO public.periodic_tick VALUES ('old', '2026-01-01 00:00:00', 'late', NULL, 0, NULL, NULL, NULL, '2026-01-01 00:00:00');
INSERT INTO public.periodic_tick VALUES ('old', '2026-01-02 00:00:00', 'queued', NULL, 0, NULL, NULL, NULL, '2026-01-02 00:00:00');
INSERT INTO public.periodic_tick VALUES ('gone', '2026-01-02 00:00:00', 'missed', NULL, 0, NULL, NULL, NULL, '2026-01-02 00:00:00');
INSERT INTO public.scheduler_lock VALUES ('nextrun', 'h/1', 'host', 1, 7, '2026-01-01 00:00:00', '2026-01-01 00:00:00', '1970-01-01 00:00:00');
INSERT INTO public.worker_service VALUES ('w@1', 'executor', 'v1', '2026-01-01 00:00:00', '2199-01-01 00:00:00', 10, 30, NULL, '[]', 'permission denied');
INSERT INTO public.worker_session VALUES ('w@1', 's', '2026-01-01 00:00:00', '2026-01-01 00:00:00', NULL);
SELECT pg_catalog.setval('public.event_store_seq_seq', 2, true);
SELECT pg_catalog.setval('public.joblog_counter_seq', 1, true);
SELECT pg_catalog.setval('public.nextrun_migration_id_seq', 23, true);
SELECT pg_catalog.setval('public.outbox_message_id_seq', 1, true);
SELECT pg_catalog.setval('public.periodic_action_id_seq', 1, true);
SELECT pg_catalog.setval('public.periodic_ready_seq_seq', 1, true);
ALTER TABLE ONLY public.event_aggregate
    ADD CONSTRAINT event_aggregate_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.event_offset
    ADD CONSTRAINT event_offset_pkey PRIMARY KEY (group_, topic);
ALTER TABLE ONLY public.event_store
    ADD CONSTRAINT event_store_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.event_topic
    ADD CONSTRAINT event_topic_pkey PRIMARY KEY (topic);
ALTER TABLE ONLY public.job_limit
    ADD CONSTRAINT job_limit_pkey PRIMARY KEY (kind, name);
ALTER TABLE ONLY public.job_pause
    ADD CONSTRAINT job_pause_pkey PRIMARY KEY (kind, name);
ALTER TABLE ONLY public.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (jid);
ALTER TABLE ONLY public.jobgroupuse
    ADD CONSTRAINT jobgroupuse_pkey PRIMARY KEY (groupid, workerid);
ALTER TABLE ONLY public.joblog
    ADD CONSTRAINT joblog_pkey PRIMARY KEY (id);
ALTER TABLE public.periodic_task
    ADD CONSTRAINT nextrun_due CHECK (((due >= '1970-01-01 00:00:00'::timestamp without time zone) AND (due <= '9999-12-31 23:59:59.999999'::timestamp without time zone))) NOT VALID;
ALTER TABLE ONLY public.event_store
    ADD CONSTRAINT nextrun_event_version UNIQUE (aggregate_id, aggregate_version);
ALTER TABLE ONLY public.nextrun_found
    ADD CONSTRAINT nextrun_found_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.nextrun_migration
    ADD CONSTRAINT nextrun_migration_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.outbox_message
    ADD CONSTRAINT outbox_message_event_id_key UNIQUE (event_id);
ALTER TABLE ONLY public.outbox_message
    ADD CONSTRAINT outbox_message_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.outbox_topic
    ADD CONSTRAINT outbox_topic_pkey PRIMARY KEY (topic);
ALTER TABLE ONLY public.periodic_action
    ADD CONSTRAINT periodic_action_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.periodic_open
    ADD CONSTRAINT periodic_open_pkey PRIMARY KEY (task_id);
ALTER TABLE ONLY public.periodic_ready
    ADD CONSTRAINT periodic_ready_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY public.periodic_task
    ADD CONSTRAINT periodic_task_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.periodic_tick
    ADD CONSTRAINT periodic_tick_pkey PRIMARY KEY (task_id, due);
ALTER TABLE ONLY public.scheduler_lock
    ADD CONSTRAINT scheduler_lock_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.worker_service
    ADD CONSTRAINT worker_service_pkey PRIMARY KEY (worker);
ALTER TABLE ONLY public.worker_session
    ADD CONSTRAINT worker_session_pkey PRIMARY KEY (worker);
CREATE INDEX nextrun_action_at ON public.periodic_action USING btree (at);
CREATE INDEX nextrun_action_job ON public.periodic_action USING btree (jid, id) WHERE (jid IS NOT NULL);
CREATE INDEX nextrun_action_task ON public.periodic_action USING btree (task_id, id);
CREATE UNIQUE INDEX nextrun_event_due ON public.event_store USING btree (aggregate_id, due) WHERE (due IS NOT NULL);
CREATE UNIQUE INDEX nextrun_event_position ON public.event_store USING btree (topic, "position") WHERE ("position" IS NOT NULL);
CREATE INDEX nextrun_event_seq ON public.event_store USING btree (seq);
CREATE INDEX nextrun_event_unplaced ON public.event_store USING btree (topic, seq) WHERE ("position" IS NULL);
CREATE INDEX nextrun_job_active ON public.job USING btree (heartbeat) WHERE ((state)::text = ANY ((ARRAY['scheduled'::character varying, 'running'::character varying])::text[]));
CREATE INDEX nextrun_job_cancel ON public.job USING btree (worker) WHERE (((state)::text = ANY ((ARRAY['scheduled'::character varying, 'running'::character varying])::text[])) AND (cancel IS NOT NULL));
CREATE INDEX nextrun_job_finished ON public.job USING btree (finished) WHERE (finished IS NOT NULL);
CREATE INDEX nextrun_job_later ON public.job USING btree (retry) WHERE (((state)::text = 'waiting'::text) AND (retry IS NOT NULL));
CREATE INDEX nextrun_job_limited ON public.job USING btree (tracker) WHERE (((state)::text = ANY ((ARRAY['scheduled'::character varying, 'running'::character varying])::text[])) AND (concurrency IS NOT NULL));
CREATE UNIQUE INDEX nextrun_job_pending ON public.job USING btree (tracker, (
CASE
    WHEN single THEN ''::character varying
    ELSE jid
END)) WHERE (((state)::text = ANY ((ARRAY['waiting'::character varying, 'scheduled'::character varying, 'running'::character varying, 'stuck'::character varying])::text[])) AND (tracker IS NOT NULL));
CREATE INDEX nextrun_job_stuck ON public.job USING btree (retry) WHERE ((state)::text = 'stuck'::text);
CREATE INDEX nextrun_job_waiting ON public.job USING btree (task COLLATE "C", group_ COLLATE "C", ((priority > 5)), submitted, jid) WHERE (((state)::text = 'waiting'::text) AND (retry IS NULL));
CREATE INDEX nextrun_joblog_jid ON public.joblog USING btree (jid, counter);
CREATE INDEX nextrun_message_dead ON public.outbox_message USING btree (topic, id) WHERE (dead IS NOT NULL);
CREATE INDEX nextrun_message_pending ON public.outbox_message USING btree (topic, id) WHERE ((published IS NULL) AND (dead IS NULL));
CREATE INDEX nextrun_message_published ON public.outbox_message USING btree (published) WHERE (published IS NOT NULL);
CREATE INDEX nextrun_task_due ON public.periodic_task USING btree (nextrun) WHERE (enabled AND (worker IS NULL));
CREATE INDEX nextrun_task_marked ON public.periodic_task USING btree (marked) WHERE (worker IS NOT NULL);
CREATE INDEX nextrun_task_paused_until ON public.periodic_task USING btree (paused_until) WHERE (paused IS NOT NULL);
CREATE INDEX nextrun_tick_decided ON public.periodic_tick USING brin (decided);
CREATE INDEX nextrun_tick_queued ON public.periodic_tick USING btree (task_id, due) WHERE ((decision)::text = 'queued'::text);
CREATE TRIGGER nextrun_event_added AFTER INSERT ON public.event_store FOR EACH STATEMENT EXECUTE FUNCTION public.nextrun_event_added();
CREATE TRIGGER nextrun_job_added AFTER INSERT ON public.job FOR EACH STATEMENT EXECUTE FUNCTION public.nextrun_job_added();
CREATE TRIGGER nextrun_job_deleted AFTER DELETE ON public.job FOR EACH ROW WHEN (((old.tracker IS NOT NULL) AND ((old.state)::text = ANY ((ARRAY['waiting'::character varying, 'scheduled'::character varying, 'running'::character varying, 'stuck'::character varying])::text[])))) EXECUTE FUNCTION public.nextrun_job_ended();
CREATE TRIGGER nextrun_job_ended AFTER UPDATE OF state, tracker ON public.job FOR EACH ROW WHEN (((old.tracker IS NOT NULL) AND ((old.state)::text = ANY ((ARRAY['waiting'::character varying, 'scheduled'::character varying, 'running'::character varying, 'stuck'::character varying])::text[])) AND (((new.state)::text <> ALL ((ARRAY['waiting'::character varying, 'scheduled'::character varying, 'running'::character varying, 'stuck'::character varying])::text[])) OR ((new.tracker)::text IS DISTINCT FROM (old.tracker)::text)))) EXECUTE FUNCTION public.nextrun_job_ended();
CREATE TRIGGER nextrun_job_waits AFTER UPDATE OF state, cancel, retry ON public.job FOR EACH ROW WHEN (((((new.state)::text = 'waiting'::text) AND (((old.state)::text <> 'waiting'::text) OR (new.retry IS DISTINCT FROM old.retry))) OR ((new.cancel IS NOT NULL) AND (old.cancel IS NULL)))) EXECUTE FUNCTION public.nextrun_job_added();
CREATE TRIGGER nextrun_jobs_gone AFTER TRUNCATE ON public.job FOR EACH STATEMENT EXECUTE FUNCTION public.nextrun_jobs_gone();
CREATE TRIGGER nextrun_limit_changed AFTER INSERT OR DELETE OR UPDATE ON public.job_limit FOR EACH STATEMENT EXECUTE FUNCTION public.nextrun_job_added();
CREATE TRIGGER nextrun_lock_kept BEFORE DELETE ON public.scheduler_lock FOR EACH ROW EXECUTE FUNCTION public.nextrun_lock_kept();
CREATE TRIGGER nextrun_lock_released AFTER UPDATE OF expires ON public.scheduler_lock FOR EACH ROW WHEN ((new.expires < old.expires)) EXECUTE FUNCTION public.nextrun_lock_released();
CREATE TRIGGER nextrun_lock_truncated BEFORE TRUNCATE ON public.scheduler_lock FOR EACH STATEMENT EXECUTE FUNCTION public.nextrun_lock_kept();
CREATE TRIGGER nextrun_message_added AFTER INSERT ON public.outbox_message FOR EACH STATEMENT EXECUTE FUNCTION public.nextrun_event_added();
CREATE TRIGGER nextrun_message_again AFTER UPDATE OF published, dead ON public.outbox_message FOR EACH ROW WHEN (((new.published IS NULL) AND (new.dead IS NULL) AND ((old.published IS NOT NULL) OR (old.dead IS NOT NULL)))) EXECUTE FUNCTION public.nextrun_event_added();
CREATE TRIGGER nextrun_open_ended AFTER DELETE ON public.periodic_open REFERENCING OLD TABLE AS ended FOR EACH STATEMENT EXECUTE FUNCTION public.nextrun_open_ended();
CREATE TRIGGER nextrun_open_truncated AFTER TRUNCATE ON public.periodic_open FOR EACH STATEMENT EXECUTE FUNCTION public.nextrun_open_ended();
CREATE TRIGGER nextrun_pause_ended AFTER DELETE ON public.job_pause FOR EACH STATEMENT EXECUTE FUNCTION public.nextrun_job_added();
CREATE TRIGGER nextrun_task_added BEFORE INSERT ON public.periodic_task FOR EACH ROW EXECUTE FUNCTION public.nextrun_task_added();
CREATE TRIGGER nextrun_task_bounds_edited BEFORE UPDATE OF nextrun, starts, ends ON public.periodic_task FOR EACH ROW WHEN ((((new.nextrun IS DISTINCT FROM old.nextrun) AND ((new.nextrun < '1970-01-01 00:00:00'::timestamp without time zone) OR (new.nextrun > '9999-12-31 23:59:59.999999'::timestamp without time zone))) OR ((new.starts IS DISTINCT FROM old.starts) AND ((new.starts < '1970-01-01 00:00:00'::timestamp without time zone) OR (new.starts > '9999-12-31 23:59:59.999999'::timestamp without time zone))) OR ((new.ends IS DISTINCT FROM old.ends) AND ((new.ends < '1970-01-01 00:00:00'::timestamp without time zone) OR (new.ends > '9999-12-31 23:59:59.999999'::timestamp without time zone))))) EXECUTE FUNCTION public.nextrun_task_times();
CREATE TRIGGER nextrun_task_changed BEFORE UPDATE OF timer, starts, ends, enabled, nextrun, created, sink ON public.periodic_task FOR EACH ROW WHEN (((NOT (new.due IS DISTINCT FROM old.due)) AND ((((((((new.timer)::text IS DISTINCT FROM (old.timer)::text) OR (new.starts IS DISTINCT FROM old.starts)) OR (new.ends IS DISTINCT FROM old.ends)) OR (new.enabled IS DISTINCT FROM old.enabled)) OR (new.nextrun IS DISTINCT FROM old.nextrun)) OR (new.created IS DISTINCT FROM old.created)) OR ((new.sink)::text IS DISTINCT FROM (old.sink)::text)))) EXECUTE FUNCTION public.nextrun_task_changed();
CREATE TRIGGER nextrun_task_deleted AFTER DELETE ON public.periodic_task REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION public.nextrun_task_removed();
CREATE TRIGGER nextrun_task_edited BEFORE UPDATE OF id, enabled, task, group_, args, subject, submitter, priority, timer, nextrun, created, summary, starts, ends, overlap, catchup, grace, deadline, jitter, sink ON public.periodic_task FOR EACH ROW WHEN (((NOT (new.due IS DISTINCT FROM old.due)) AND ((((((((((((((((((((new.enabled IS DISTINCT FROM old.enabled) OR (new.nextrun IS DISTINCT FROM old.nextrun)) OR ((new.timer)::text IS DISTINCT FROM (old.timer)::text)) OR ((new.id)::text IS DISTINCT FROM (old.id)::text)) OR ((new.task)::text IS DISTINCT FROM (old.task)::text)) OR ((new.group_)::text IS DISTINCT FROM (old.group_)::text)) OR ((new.subject)::text IS DISTINCT FROM (old.subject)::text)) OR ((new.submitter)::text IS DISTINCT FROM (old.submitter)::text)) OR (new.priority IS DISTINCT FROM old.priority)) OR (new.created IS DISTINCT FROM old.created)) OR ((new.summary)::text IS DISTINCT FROM (old.summary)::text)) OR (new.starts IS DISTINCT FROM old.starts)) OR (new.ends IS DISTINCT FROM old.ends)) OR ((new.overlap)::text IS DISTINCT FROM (old.overlap)::text)) OR ((new.catchup)::text IS DISTINCT FROM (old.catchup)::text)) OR (new.grace IS DISTINCT FROM old.grace)) OR (new.deadline IS DISTINCT FROM old.deadline)) OR (new.jitter IS DISTINCT FROM old.jitter)) OR ((new.sink)::text IS DISTINCT FROM (old.sink)::text)) OR (new.args IS DISTINCT FROM old.args)))) EXECUTE FUNCTION public.nextrun_task_edited();
CREATE TRIGGER nextrun_task_marked BEFORE UPDATE OF worker ON public.periodic_task FOR EACH ROW WHEN (((old.worker IS NULL) AND (new.worker IS NOT NULL))) EXECUTE FUNCTION public.nextrun_task_marked();
CREATE TRIGGER nextrun_task_paused BEFORE UPDATE OF paused, paused_until ON public.periodic_task FOR EACH ROW WHEN (((new.paused IS DISTINCT FROM old.paused) OR (new.paused_until IS DISTINCT FROM old.paused_until))) EXECUTE FUNCTION public.nextrun_task_paused();
CREATE TRIGGER nextrun_task_paused_added BEFORE INSERT ON public.periodic_task FOR EACH ROW WHEN (((new.paused IS NOT NULL) OR (new.paused_until IS NOT NULL))) EXECUTE FUNCTION public.nextrun_task_paused();
CREATE TRIGGER nextrun_task_renamed AFTER UPDATE OF id ON public.periodic_task FOR EACH ROW WHEN (((new.id)::text <> (old.id)::text)) EXECUTE FUNCTION public.nextrun_task_removed();
CREATE TRIGGER nextrun_task_times_added BEFORE INSERT ON public.periodic_task FOR EACH ROW WHEN (((new.nextrun <> '1970-01-01 00:00:00'::timestamp without time zone) OR (new.starts IS NOT NULL) OR (new.ends IS NOT NULL))) EXECUTE FUNCTION public.nextrun_task_times();
CREATE TRIGGER nextrun_task_truncated AFTER TRUNCATE ON public.periodic_task FOR EACH STATEMENT EXECUTE FUNCTION public.nextrun_task_removed();
CREATE TRIGGER nextrun_tick_queues AFTER INSERT ON public.periodic_tick REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.nextrun_tick_queues();
CREATE TRIGGER nextrun_tick_requeues AFTER UPDATE ON public.periodic_tick REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.nextrun_tick_queues();
CREATE TRIGGER nextrun_topic_strict AFTER UPDATE OF strict ON public.outbox_topic FOR EACH STATEMENT EXECUTE FUNCTION public.nextrun_event_added();
ALTER TABLE ONLY public.joblog
    ADD CONSTRAINT joblog_jid_fkey FOREIGN KEY (jid) REFERENCES public.job(jid);
ALTER TABLE ONLY public.outbox_message
    ADD CONSTRAINT outbox_message_event_id_fkey FOREIGN KEY (event_id) REFERENCES public.event_store(id);
REVOKE ALL ON FUNCTION public.nextrun_job_ended() FROM PUBLIC;
REVOKE ALL ON FUNCTION public.nextrun_jobs_gone() FROM PUBLIC;
REVOKE ALL ON FUNCTION public.nextrun_open_ended() FROM PUBLIC;
REVOKE ALL ON FUNCTION public.nextrun_task_paused() FROM PUBLIC;
REVOKE ALL ON FUNCTION public.nextrun_task_removed() FROM PUBLIC;
REVOKE ALL ON FUNCTION public.nextrun_tick_queues() FROM PUBLIC;
