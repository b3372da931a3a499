-- The tables as the ADR 0012 "Periodic Tasks" proposes them, without what later
-- versions of Docspell added; for both databases.
CREATE TABLE "periodic_task" (
  "id" varchar(254) not null primary key, "enabled" boolean not null, "task" varchar(254) not null,
  "group_" varchar(254) not null, "args" text not null, "subject" varchar(254) not null,
  "submitter" varchar(254) not null, "priority" int not null, "worker" varchar(254), "marked" timestamp,
  "timer" varchar(254) not null, "nextrun" timestamp not null, "created" timestamp not null);
CREATE TABLE "job" (
  "jid" varchar(254) not null primary key, "task" varchar(254) not null, "group_" varchar(254) not null,
  "args" text not null, "subject" varchar(254) not null, "submitted" timestamp not null,
  "submitter" varchar(254) not null, "priority" int not null, "state" varchar(254) not null,
  "retries" int not null, "progress" int not null, "tracker" varchar(254), "worker" varchar(254),
  "started" timestamp, "startedmillis" bigint, "finished" timestamp);
CREATE TABLE "joblog" (
  "id" varchar(254) not null primary key, "jid" varchar(254) not null, "level" varchar(254) not null,
  "created" timestamp not null, "message" text not null);
CREATE TABLE "jobgroupuse" ("groupid" varchar(254) not null, "workerid" varchar(254) not null, primary key ("groupid", "workerid"));
INSERT INTO "periodic_task" VALUES ('old', true, 'backup', 'default', '{}', 'Backup', 'me', 0, NULL, NULL,
  '*-*-* 02:00:00', '2026-01-01 02:00:00.000000', '2025-12-24 10:11:12.131415');
