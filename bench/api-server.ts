import { createBusyCluster } from "../test/support/kubernetes/busy.ts";
import { startApiServer } from "../demo/kubernetes/server/server.ts";

/**
 * A process that serves a busy cluster: `node api-server.js <pods> <nodes>`. It prints its address as one line of JSON. A
 * number on stdin sets the number of objects that change per second.
 */
const [pods, nodes] = process.argv.slice(2).map(Number) as [number, number];
const server = await startApiServer({ keptEvents: 200_000 });
const cluster = createBusyCluster({ pods, nodes, seed: 1 });
cluster.fill(server.store);
let changes: { stop(): void } | undefined;
process.stdin.on("data", (chunk: Buffer) => {
  changes?.stop();
  const perSecond = Number(chunk.toString());
  changes = perSecond > 0 ? cluster.changeAtRate(server.store, perSecond) : undefined;
});
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
