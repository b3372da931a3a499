// Schedules of Graphile Worker and pg-boss, which `make bench BENCH=peers` measures: `graphile N DUE` and `pgboss N DUE` make N of
// them, which are due once a day, first at DUE, a whole minute in seconds since 1970. Nobody works off their jobs.
import { Logger, run } from "graphile-worker";
import { PgBoss } from "pg-boss";
import { databaseURL, main } from "./worker.js";

const [count, due] = process.argv.slice(3).map(Number);
const first = new Date(due * 1000);
const cron = `${first.getUTCMinutes()} ${first.getUTCHours()} * * *`;
const args = { path: "/srv/data", keep: 7 };
const ids = Array.from({ length: count }, (_, i) => `bench-${i + 1}`);
const fail = (error) => process.stderr.write(`error: ${error.message}\n`);

await main({
  graphile: async () => {
    const runner = await run({
      connectionString: databaseURL,
      crontab: ids.map((id) => `${cron} bench ?id=${id} ${JSON.stringify(args)}`).join("\n"),
      taskList: { nobody() {} },
      logger: new Logger(() => (level, message) => level === "error" && fail({ message })),
      noHandleSignals: true,
    });
    return () => runner.stop();
  },
  pgboss: async () => {
    const shortest = { cronMonitorIntervalSeconds: 1, cronWorkerIntervalSeconds: 1 };
    const boss = new PgBoss({ connectionString: databaseURL, ...shortest });
    boss.on("error", fail);
    await boss.start();
    await boss.createQueue("bench");
    for (const key of ids) await boss.schedule("bench", cron, args, { key });
    return () => boss.stop({ graceful: true, timeout: 10_000 });
  },
});
