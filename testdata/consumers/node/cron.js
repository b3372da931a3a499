// The cron of Graphile Worker or pg-boss, for benchmarks: `graphile TASKS` or `pgboss TASKS` adds jobs of so many tasks at
// each full minute, which nobody works off. It says {"event":"ready"} when it waits for the minute.
import { databaseURL, load, main, say } from "./worker.js";

const tasks = Number.parseInt(process.env.TASKS ?? "", 10);
const args = { path: "/srv/data", keep: 7 };

await main({
  graphile: async () => {
    const { Logger, run } = await load("graphile-worker");
    const crontab = Array.from({ length: tasks }, (_, i) => `* * * * * bench ?id=bench-${i} ${JSON.stringify(args)}`).join("\n");
    const runner = await run({
      connectionString: databaseURL,
      logger: new Logger(() => () => {}),
      noHandleSignals: true,
      taskList: { nobody: async () => {} },
      crontab,
    });
    say("ready");
    return () => runner.stop();
  },
  pgboss: async () => {
    const { PgBoss } = await load("pg-boss");
    const boss = new PgBoss({ connectionString: databaseURL, schedule: true });
    boss.on("error", (error) => process.stderr.write(`error: ${error.message}\n`));
    await boss.start();
    await boss.createQueue("bench");
    for (let i = 0; i < tasks; i++) {
      await boss.schedule("bench", "* * * * *", args, { key: `bench-${i}` });
    }
    say("ready");
    return () => boss.stop({ graceful: false });
  },
});
