// A worker of pg-boss: `migrate` makes the tables and the queues in QUEUES, `work` works them off.
// PGBOSS_SCHEMA and CONCURRENCY change the schema and the jobs that run at a time per queue.
import { PgBoss } from "pg-boss";
import { databaseURL, main, number, queues, say, work } from "./worker.js";

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
  await work(args);
  say("done", { jid });
}

await main({
  migrate: async () => {
    const boss = open();
    await boss.start();
    for (const { name, policy } of queues) {
      await boss.createQueue(name, { notify: true, ...(policy && { policy }) });
    }
    await boss.stop({ graceful: false });
  },
  work: async () => {
    const boss = open();
    await boss.start();
    for (const { name } of queues) {
      const options = { includeMetadata: true, localConcurrency: number("CONCURRENCY", 20), pollingIntervalSeconds: 5 };
      await boss.work(name, options, perform);
    }
    say("ready");
    return () => boss.stop({ graceful: true, timeout: 10_000 });
  },
});
