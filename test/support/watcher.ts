import { createApiConnection } from "../../collectors/kubernetes/api/connection.ts";
import type { ElectionTiming } from "../../collectors/kubernetes/api/election.ts";
import { ownerKinds } from "../../collectors/kubernetes/owners/kinds.ts";
import type { FACT_TOPICS } from "../../collectors/kubernetes/watcher/fact-registries.ts";
import type { MissingPermission, WatcherEvents } from "../../collectors/kubernetes/watcher/events.ts";
import { createFactSender, type FactSender } from "../../collectors/kubernetes/watcher/sender.ts";
import { startWatcher, type ClusterWatcher } from "../../collectors/kubernetes/watcher/watcher.ts";
import type { ApiServer } from "../../demo/kubernetes/server/server.ts";
import type { ClusterFact } from "../../domain/cluster-fact.ts";
import type { InventoryFact } from "../../domain/inventory.ts";
import { CLUSTER_TOPIC, INVENTORY_TOPIC, WORKLOADS_TOPIC } from "../../domain/messages/topics.ts";
import type { WorkloadFact } from "../../domain/workload.ts";
import type { Bus, Follower, OutgoingMessage } from "../../runtime/bus/bus.ts";
import { systemClock, type Clock } from "../../runtime/clock.ts";

/** Timings in seconds where the service has minutes. */
export const FAST = {
  election: { durationMillis: 1_000, giveUpMillis: 600, renewMillis: 40 },
  term: {
    lookMillis: 60,
    settleMillis: 2_000,
    removeEndedEveryMillis: 100,
    removeEndedAfterMillis: 7 * 86_400_000,
    reflector: { pageSize: 5, silenceMillis: 500, watchSeconds: 60, doubtMillis: 100, absentMillis: 80 },
  },
};

/** The events of a watcher, other than its facts. */
export interface WatcherLog {
  readonly forbidden: MissingPermission[];
  readonly versionsBack: string[];
  readonly allowed: MissingPermission[];
  readonly installed: string[];
  readonly removed: string[];
  readonly remarks: string[];
  readonly errors: unknown[];
  epochs: number[];
}

/** A watcher of a server, with an identity of its own, on a bus. */
export interface TestWatcher {
  readonly watcher: ClusterWatcher;
  readonly log: WatcherLog;
  /** Cuts the watcher off from the server, as a broken network does, or connects it again. */
  setCutOff(cut: boolean): void;
  stop(): Promise<void>;
}

/** Starts a watcher of a server that sends its facts over a bus. */
export function startTestWatcher(
  server: ApiServer,
  bus: Bus,
  given: {
    readonly identity?: string;
    readonly clock?: Clock;
    readonly token?: () => string;
    readonly removeEndedAfterMillis?: number;
    /** Short by default, so that a lease without a renewal expires within a test. */
    readonly election?: ElectionTiming;
    /** Holds messages back, or lets them through, before they reach the bus. */
    readonly gate?: () => Promise<void>;
  } = {},
): TestWatcher {
  const { identity = "first", clock = systemClock, token, gate } = given;
  const log: WatcherLog = {
    forbidden: [],
    versionsBack: [],
    allowed: [],
    installed: [],
    removed: [],
    remarks: [],
    errors: [],
    epochs: [],
  };
  let isCutOff = false;
  const api = createApiConnection(
    () =>
      Promise.resolve({
        server: isCutOff ? "http://127.0.0.1:9" : server.url,
        headers: token === undefined ? {} : { authorization: `Bearer ${token()}` },
        tls: {},
      }),
    clock,
  );
  const senderOf = (topic: string): FactSender =>
    createFactSender(
      {
        async send(messages: readonly OutgoingMessage[]) {
          await gate?.();
          await bus.send(topic, messages);
        },
        stats: () => ({ queuedMessages: 0, queuedBytes: 0, sent: 0, dropped: 0, errors: 0 }),
        drain: () => Promise.resolve(true),
        close: () => Promise.resolve(),
      },
      (error) => log.errors.push(error),
    );
  const senders: Record<(typeof FACT_TOPICS)[number], FactSender> = {
    [WORKLOADS_TOPIC]: senderOf(WORKLOADS_TOPIC),
    [INVENTORY_TOPIC]: senderOf(INVENTORY_TOPIC),
    [CLUSTER_TOPIC]: senderOf(CLUSTER_TOPIC),
  };
  const events: WatcherEvents = {
    onElected: (epoch) => log.epochs.push(epoch),
    onDeposed: () => {},
    onElectionError: (error) => log.errors.push(error),
    onListed: () => {},
    onLooked: () => {},
    onWatchTaken: () => {},
    onVersionsBack: (resource) => log.versionsBack.push(resource),
    onWatchEvent: () => {},
    onWatchEnded: () => {},
    onError: (_, error) => log.errors.push(error),
    onForbidden: (missing) => log.forbidden.push(missing),
    onAllowed: (missing) => log.allowed.push(missing),
    onInstalled: (resource) => log.installed.push(resource),
    onRemoved: (resource) => log.removed.push(resource),
    onRemarks: (_, remarks) => log.remarks.push(...remarks.map(({ text }) => text)),
  };
  const watcher = startWatcher({
    cluster: "test",
    api,
    lease: { namespace: "gpu-ledger", name: "watcher" },
    identity,
    bus,
    senders,
    projection: { pods: { kinds: ownerKinds(), labels: ["team"] }, nodes: {} },
    events,
    clock,
    timing: {
      election: given.election ?? FAST.election,
      term: { ...FAST.term, removeEndedAfterMillis: given.removeEndedAfterMillis ?? FAST.term.removeEndedAfterMillis },
    },
  });
  return { watcher, log, setCutOff: (cut) => (isCutOff = cut), stop: () => watcher.stop() };
}

/** All facts of a bus in order, and tombstones by key. */
export interface SentFacts {
  readonly workloads: WorkloadFact[];
  readonly inventory: InventoryFact[];
  readonly cluster: ClusterFact[];
  readonly tombstones: string[];
  /** The facts of one pod by its name. */
  ofPod(name: string): WorkloadFact[];
  close(): Promise<void>;
}

/** Follows the topics of facts. */
export async function followFacts(bus: Bus): Promise<SentFacts> {
  const facts = {
    workloads: [] as WorkloadFact[],
    inventory: [] as InventoryFact[],
    cluster: [] as ClusterFact[],
    tombstones: [] as string[],
  };
  const follow = <Fact>(topic: string, into: Fact[]): Promise<Follower> =>
    bus.follow(topic, (messages) => {
      for (const { value, key } of messages) {
        if (value === null) facts.tombstones.push(key);
        else into.push(JSON.parse(Buffer.from(value).toString("utf8")) as Fact);
      }
      return Promise.resolve();
    });
  const followers = [
    await follow(WORKLOADS_TOPIC, facts.workloads),
    await follow(INVENTORY_TOPIC, facts.inventory),
    await follow(CLUSTER_TOPIC, facts.cluster),
  ];
  return {
    ...facts,
    ofPod: (name) => facts.workloads.filter((fact) => fact.name === name),
    async close() {
      await Promise.all(followers.map((follower) => follower.close()));
    },
  };
}
