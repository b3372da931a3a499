// A worker of Graphile Worker: `migrate` makes the tables, `work` works off the tasks in QUEUES.
// GRAPHILE_SCHEMA, CONCURRENCY and POLL_MS change the schema, the concurrency and the poll interval.
// A release behind the command, as in `migrate 0.15`, is used in place of the newest.
import { EventEmitter } from "node:events";
import { databaseURL, load, main, number, queues, say, work } from "./worker.js";

const { Logger, run, runMigrations } = await load("graphile-worker");

const quiet = () => (level, message) => {
  if (level === "error" || level === "warning") process.stderr.write(`${level}: ${message}\n`);
};
const shared = {
  connectionString: databaseURL,
  schema: process.env.GRAPHILE_SCHEMA || "graphile_worker",
  logger: new Logger(quiet),
};

// The key of a job that nextrun added: its task, its due time and its id.
const keyOf = /^nextrun:(.*):(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z):([0-9a-f-]{36})$/s;

async function perform(args, { job }) {
  const [, task, due, jid] = keyOf.exec(job.key ?? "") ?? [];
  say("job", { task, due, jid, id: job.id, attempt: job.attempts, run_at: job.run_at, args });
  await work(args, job.attempts);
  say("done", { jid });
}

await main({
  migrate: () => runMigrations(shared),
  work: async () => {
    const events = new EventEmitter();
    events.once("pool:listen:success", () => say("ready"));
    const runner = await run({
      ...shared,
      events,
      noHandleSignals: true,
      // Without these, stop would not wait until the last jobs are recorded as done.
      preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
      concurrency: number("CONCURRENCY", 20),
      maxPoolSize: Math.min(number("CONCURRENCY", 20), 25),
      pollInterval: number("POLL_MS", 5000),
      taskList: Object.fromEntries(queues.map(({ name }) => [name, perform])),
    });
    return () => runner.stop();
  },
});
