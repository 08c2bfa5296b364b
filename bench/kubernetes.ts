import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pino from "pino";
import { createApiConnection } from "../collectors/kubernetes/api/connection.ts";
import { ownerKinds } from "../collectors/kubernetes/owners/kinds.ts";
import type { NodeObject } from "../collectors/kubernetes/projection/node-object.ts";
import { projectNode } from "../collectors/kubernetes/projection/node.ts";
import type { PodObject } from "../collectors/kubernetes/projection/pod-object.ts";
import { projectPod } from "../collectors/kubernetes/projection/pod.ts";
import { startReflector, type Reflector } from "../collectors/kubernetes/reflector/reflector.ts";
import { encodeInventory, encodeWorkload, type FactMessage } from "../domain/messages/fact-message.ts";
import { INVENTORY_TOPIC, WORKLOADS_TOPIC } from "../domain/messages/topics.ts";
import { openEmbeddedBus } from "../runtime/bus/embedded/embedded-bus.ts";
import { topicDeclarations } from "../runtime/bus/topics.ts";
import { systemClock } from "../runtime/clock.ts";
import { cpuSeconds, ownMegabytes, pause } from "./process.ts";
import { report } from "./report.ts";

const PODS = 50_000;
const NODES = 5_000;
const BATCH = 500;
const EVENTS_PER_SECOND = 2_000;
const WATCH_SECONDS = 30;
const LIMITS = { samplePartitions: 8, retention: 86_400_000, retentionSize: 1e9, spool: 1e9 };

/**
 * A cluster of 50,000 pods (9 kB each, four of ten with a GPU) and 5,000 nodes in a process of its own: lists, projects and
 * sends every fact to the embedded bus, then follows 2,000 changes a second. Owners are not looked up.
 */
export async function benchKubernetes(): Promise<void> {
  const server = await startServer();
  const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-bench-kubernetes-"));
  const logger = pino({ level: "error" }, pino.destination(2));
  const bus = await openEmbeddedBus({ folder, clock: systemClock, logger });
  await bus.declare(topicDeclarations({ kind: "embedded", ...LIMITS }));
  const api = createApiConnection(() => Promise.resolve({ server: server.url, headers: {}, tls: {} }), systemClock);
  const counts = { events: 0, messages: 0, megabytes: 0 };
  const looking = setInterval(() => (counts.megabytes = Math.max(counts.megabytes, ownMegabytes(process.pid))), 100);

  function follow(
    plural: string,
    kind: string,
    topic: string,
    toMessage: (object: object, seen: number) => FactMessage | undefined,
  ) {
    let waiting: FactMessage[] = [];
    const flush = async (): Promise<void> => {
      const messages = waiting;
      waiting = [];
      counts.messages += messages.length;
      if (messages.length > 0) await bus.send(topic, messages);
    };
    let tellListed = (): void => {};
    const listed = new Promise<void>((resolve) => (tellListed = resolve));
    const reflector: Reflector = startReflector({
      api,
      resource: { group: "", version: "v1", plural, kind },
      sink: {
        async onObject(object, { atMillis }) {
          counts.events += 1;
          const message = toMessage(object, atMillis);
          if (message !== undefined) waiting.push(message);
          if (waiting.length >= BATCH) await flush();
        },
        onGone: () => void (counts.events += 1),
        onListed: () => void flush().then(tellListed),
      },
      events: {
        onListStarted: () => {},
        onWatchEvent: () => {},
        onWatchEnded: () => {},
        onError: (error) => logger.error(error),
      },
    });
    return { reflector, listed };
  }

  const kinds = ownerKinds();
  const origin = (object: object, seenAtMillis: number) => ({
    cluster: "bench",
    epoch: 1,
    resourceVersion: (object as { metadata: { resourceVersion: string } }).metadata.resourceVersion,
    seenAtMillis,
  });
  const started = performance.now();
  const pods = follow("pods", "Pod", WORKLOADS_TOPIC, (object, seen) => {
    const projected = projectPod(object as PodObject, { kinds, lookup: () => undefined });
    return projected === undefined ? undefined : encodeWorkload({ ...origin(object, seen), ...projected.fact });
  });
  const nodes = follow("nodes", "Node", INVENTORY_TOPIC, (object, seen) => {
    const projected = projectNode(object as NodeObject);
    return projected === undefined ? undefined : encodeInventory({ ...origin(object, seen), ...projected.fact });
  });
  await Promise.all([pods.listed, nodes.listed]);
  report(
    `${PODS} pods and ${NODES} nodes: list to all messages on the bus`,
    [(performance.now() - started) / 1000],
    "s",
    { atMost: 15 },
  );
  report("memory of its own at its highest", [counts.megabytes], "MB", { atMost: 350 });
  process.stdout.write(`    ${counts.messages} messages\n`);

  server.change(EVENTS_PER_SECOND);
  await pause(5_000);
  const [events, cpu] = [counts.events, cpuSeconds(process.pid)];
  await pause(WATCH_SECONDS * 1000);
  report("changes followed, of those made", [(counts.events - events) / (EVENTS_PER_SECOND * WATCH_SECONDS)], "", {
    atLeast: 0.98,
  });
  report("processor time for them", [(cpuSeconds(process.pid) - cpu) / WATCH_SECONDS], "of a core", { atMost: 1 });

  clearInterval(looking);
  await Promise.all([pods.reflector.stop(), nodes.reflector.stop()]);
  api.close();
  await bus.close();
  server.stop();
  rmSync(folder, { recursive: true });
}

async function startServer(): Promise<{ readonly url: string; change(perSecond: number): void; stop(): void }> {
  const program = fileURLToPath(new URL("api-server.js", import.meta.url));
  const child = spawn(process.execPath, [program, String(PODS), String(NODES)], { stdio: ["pipe", "pipe", "inherit"] });
  const line = await new Promise<string>((resolve) =>
    child.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString())),
  );
  const { url } = JSON.parse(line) as { url: string };
  return { url, change: (perSecond) => void child.stdin.write(String(perSecond)), stop: () => void child.kill() };
}
