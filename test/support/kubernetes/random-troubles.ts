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

/** Random troubles of a server; `chance` returns numbers from 0 to below 1. */
export function createRandomTroubles(server: ApiServer, chance: () => number): RandomTroubles {
  const below = (limit: number): number => Math.floor(chance() * limit);
  const counts = new Map<string, number>();
  let isAway = false;
  let version = "v1beta1";
  let withdrawn: ReturnType<ApiServer["catalog"]["remove"]> = [];

  async function comeBack(): Promise<void> {
    if (isAway) await server.comeBack();
    isAway = false;
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
      await troubles[name]!();
      return name;
    },
    withdraw,
    async settle() {
      server.troubles.clear();
      await comeBack();
      installAgain();
    },
  };
}
