// What both workers share: their environment, the lines they write, and how they end.

export const databaseURL = required("DATABASE_URL");

// queues are the names in QUEUES; a name may have a suffix: "=" and the policy of a queue, or "=partition" for a
// queue whose jobs are a table of their own.
export const queues = required("QUEUES").split(",").map((entry) => {
  const [name, policy] = entry.trim().split("=");
  return { name, policy };
});

// number reads a setting that is a whole number.
export function number(name, otherwise) {
  return process.env[name] ? Number.parseInt(process.env[name], 10) : otherwise;
}

function required(name) {
  if (process.env[name]) return process.env[name];
  process.stderr.write(`set the environment variable ${name}\n`);
  process.exit(2);
}

// load imports a package: the release that the command line or RELEASE names, else the newest.
export async function load(name) {
  const release = process.argv[3] || process.env.RELEASE;
  return import(release ? `${name}-${release}` : name);
}

// say writes one event as a line of JSON.
export function say(event, more = {}) {
  process.stdout.write(JSON.stringify({ event, ...more, at: new Date().toISOString() }) + "\n");
}

// work takes as long as args.ms says, and fails if args.fail says so, before attempt args.until or at each.
export async function work(args, attempt) {
  if (args?.ms > 0) await new Promise((done) => setTimeout(done, args.ms));
  if (args?.fail && !(attempt >= args.until)) throw new Error(String(args.fail));
}

// main runs `migrate` or `work`. work returns a function that ends it gracefully.
export async function main(commands) {
  const command = commands[process.argv[2]];
  if (!command) {
    process.stderr.write(`usage: ${process.argv[1]} migrate|work [RELEASE]\n`);
    process.exit(2);
  }
  try {
    const stop = await command();
    if (!stop) return;
    let stopping = false;
    for (const signal of ["SIGTERM", "SIGINT"]) {
      process.on(signal, async () => {
        if (stopping) return;
        stopping = true;
        await stop();
        setTimeout(() => process.exit(0), 5000).unref(); // ends sooner when its connections are closed
      });
    }
  } catch (error) {
    process.stderr.write(`${error.stack ?? error}\n`);
    process.exit(1);
  }
}
