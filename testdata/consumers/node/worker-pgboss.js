// A worker of pg-boss: `migrate` makes the tables and the queues in QUEUES, `work` works them off.
// PGBOSS_SCHEMA, CONCURRENCY and POLL_MS change the schema, the jobs that run at a time per queue, and the poll
// interval. A release behind the command, as in `migrate 12.25`, is used in place of the newest.
import { databaseURL, load, main, number, queues, say, work } from "./worker.js";

const { PgBoss } = await load("pg-boss");

function open() {
  const boss = new PgBoss({
    connectionString: databaseURL,
    schema: process.env.PGBOSS_SCHEMA || "pgboss",
    useListenNotify: true,
  });
  boss.on("error", (error) => process.stderr.write(`error: ${error.message}\n`));
  boss.on("warning", (warning) => process.stderr.write(`warning: ${warning.message}\n`));
  return boss;
}

async function perform([job]) {
  const { id: jid, name: queue, singletonKey: task, data: args } = job;
  say("job", { task, due: job.startAfter, jid, queue, attempt: job.retryCount + 1, args });
  await work(args, job.retryCount + 1);
  say("done", { jid });
}

await main({
  migrate: async () => {
    const boss = open();
    await boss.start();
    for (const { name, policy } of queues) {
      await boss.createQueue(name, { notify: true, ...(policy === "partition" ? { partition: true } : policy && { policy }) });
    }
    await boss.stop({ graceful: false });
  },
  work: async () => {
    const boss = open();
    await boss.start();
    const poll = number("POLL_MS", 5000) / 1000;
    const options = { includeMetadata: true, pollingIntervalSeconds: poll, notifyPollingIntervalSeconds: poll };
    for (const { name } of queues) {
      for (let i = 0; i < number("CONCURRENCY", 20); i++) {
        // A notification wakes a worker for one job. This makes it look for the next one.
        const id = await boss.work(name, options, (jobs) => perform(jobs).finally(() => boss.notifyWorker(id)));
      }
    }
    say("ready");
    return () => boss.stop({ graceful: true, timeout: 10_000 });
  },
});
