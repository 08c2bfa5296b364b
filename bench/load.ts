import { Pool } from "undici";

/** Sends requests to an address over several connections for some seconds, and prints the number of answers per second. */
const [, , url, connections, seconds] = process.argv;
const { origin, pathname, search } = new URL(url!);
const pool = new Pool(origin, { connections: Number(connections), pipelining: 1 });
const until = performance.now() + Number(seconds) * 1000;
let answers = 0;

async function ask(): Promise<void> {
  while (performance.now() < until) {
    const { statusCode, body } = await pool.request({ path: `${pathname}${search}`, method: "GET" });
    await body.dump();
    if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}`);
    answers += 1;
  }
}

await Promise.all(Array.from({ length: Number(connections) }, ask));
process.stdout.write(`${answers / Number(seconds)}\n`);
await pool.close();
