import { setTimeout as delay } from "node:timers/promises";
import type { ApiServer } from "../../../demo/kubernetes/server/server.ts";

/** The group of custom resources that random troubles withdraw and serve in other versions. */
export const TROUBLED_GROUP = "scheduling.volcano.sh";

/** Troubles of an API server in random order. Some of them last until another trouble or {@link RandomTroubles.settle} ends them. */
export interface RandomTroubles {
  /** The number of troubles by name. */
  readonly counts: ReadonlyMap<string, number>;
  /** The version in which {@link TROUBLED_GROUP} is served; undefined while the server does not serve the group. */
  servedVersion(): string | undefined;
  /** Makes one trouble, and returns its name. */
  makeOne(): Promise<string>;
  /** Withdraws {@link TROUBLED_GROUP} until {@link RandomTroubles.settle}. Its objects stay. */
  withdraw(): void;
  /** Ends every lasting trouble. */
  settle(): Promise<void>;
}

/** The number of troubles after which clients have listed all kinds again, for one reason or another. */
const LIST_AGAIN = 40;
/** The longest wait for watches that are opened again, and the time without another one after which all are open. */
const MOST_WAIT_MILLIS = 30_000;
const STEADY_MILLIS = 2_500;

/** Random troubles of a server; `chance` returns numbers from 0 to below 1. */
export function createRandomTroubles(server: ApiServer, chance: () => number): RandomTroubles {
  const below = (limit: number): number => Math.floor(chance() * limit);
  const counts = new Map<string, number>();
  let isAway = false;
  let sinceRestore = Infinity;
  let mostWatches = 0;
  let version = "v1beta1";
  let withdrawn: ReturnType<ApiServer["catalog"]["remove"]> = [];

  async function comeBack(): Promise<void> {
    if (isAway) await server.comeBack();
    isAway = false;
  }

  /**
   * Makes clients list all kinds again. New versions can be beyond the old ones before a client asks, and then nothing shows a restore. On a
   * real server, versions go back by far more than the server adds in a pause of its clients.
   */
  async function expireAll(): Promise<void> {
    const until = performance.now() + MOST_WAIT_MILLIS;
    let most = 0;
    let since = 0;
    while (performance.now() < until && (most < mostWatches || performance.now() < since + STEADY_MILLIS)) {
      if (server.openWatches() > most) {
        most = server.openWatches();
        since = performance.now();
      }
      await delay(20);
    }
    server.expireWatches();
    // A watch can be between two requests.
    await delay(STEADY_MILLIS);
    server.expireWatches();
  }

  function installAgain(): void {
    server.install(withdrawn);
    withdrawn = [];
  }

  function withdraw(): void {
    withdrawn = server.catalog.remove(TROUBLED_GROUP);
  }

  const troubles: Readonly<Record<string, () => void | Promise<void>>> = {
    async away() {
      if (isAway) return comeBack();
      isAway = true;
      await server.goAway();
    },
    starts: () => server.troubles.startUp(below(150), below(100)),
    fails: () => server.troubles.fail({ status: [403, 429, 500, 503][below(4)]!, retryAfterSeconds: 0 }, below(20)),
    cut: () => server.cutWatches(below(200)),
    silent: () => server.silenceWatches(["pods", `${TROUBLED_GROUP}/podgroups`, undefined][below(3)]),
    expired: () => server.expireWatches(),
    ended: () => server.endWatches(),
    spoilt: () => server.spoilWatches('{"type":"ADD\u0000\n'),
    compacted: () => server.store.compact(),
    noStreams: () => server.troubles.refuseStreamingLists(([400, 422, "event"] as const)[below(3)]!),
    cutBodies: () => server.troubles.cutBodies(below(5_000), below(4)),
    expiredTokens: () => server.troubles.expireContinueTokens(below(3)),
    clear: () => server.troubles.clear(),
    anotherVersion() {
      if (withdrawn.length > 0) return;
      version = version === "v1" ? "v1beta1" : "v1";
      server.serveAs(TROUBLED_GROUP, version);
    },
    lacksKind() {
      if (withdrawn.length > 0) installAgain();
      else withdraw();
    },
    restored() {
      sinceRestore = 0;
      const { resourceVersion, compactedVersion } = server.store;
      server.restore(Math.max(compactedVersion, resourceVersion - below(40)));
    },
  };
  const names = Object.keys(troubles);

  return {
    counts,
    servedVersion: () => (withdrawn.length > 0 ? undefined : version),
    async makeOne() {
      const name = names[below(names.length)]!;
      counts.set(name, (counts.get(name) ?? 0) + 1);
      sinceRestore += 1;
      mostWatches = Math.max(mostWatches, server.openWatches());
      await troubles[name]!();
      return name;
    },
    withdraw,
    async settle() {
      server.troubles.clear();
      await comeBack();
      installAgain();
      if (sinceRestore < LIST_AGAIN) await expireAll();
    },
  };
}
