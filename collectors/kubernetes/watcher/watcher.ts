import type { Bus } from "../../../runtime/bus/bus.ts";
import type { Clock } from "../../../runtime/clock.ts";
import type { ApiConnection } from "../api/connection.ts";
import { startElection, type ElectionTiming } from "../api/election.ts";
import { createLease } from "../api/lease.ts";
import type { FACT_TOPICS } from "./fact-registries.ts";
import type { MissingPermission, WatcherEvents } from "./events.ts";
import type { KindFollower } from "./kind-follower.ts";
import type { LeaseName } from "./kinds.ts";
import type { ProjectionOptions } from "./projector-state.ts";
import type { FactSender } from "./sender.ts";
import { APIS, TERM_TIMING, watchTerm, type TermTiming } from "./term.ts";

/** The state of a cluster's watcher, as `/api/status` shows it. */
export interface WatcherState {
  readonly cluster: string;
  /** True if this collector is the watcher. */
  readonly watching: boolean;
  /** Number of objects by resource; empty while another collector is the watcher. */
  readonly objects: Readonly<Record<string, number>>;
  readonly missing: readonly MissingPermission[];
  /** How far the API server's clock is ahead of this machine's; 0 if the difference is too small to count. */
  readonly clockSkewMillis: number;
  /** The last error of the API server or the bus, while it fails. */
  readonly failure: string | undefined;
  /** The longest time without a report of the API server about any kind. */
  readonly silentMillis: number;
}

/** A cluster's watcher, or a candidate for it. */
export interface ClusterWatcher {
  state(): WatcherState;
  /** Ends the term, releases the lease and closes the connection. */
  stop(): Promise<void>;
}

/** The key for failures of the election. No resource has this name. */
const LEASE = "the lease";
const LEASE_TIMEOUT_MILLIS = 5_000;

/** Takes part in the election of a cluster's watcher, and watches while elected. The watcher owns the connection. */
export function startWatcher(options: {
  readonly cluster: string;
  readonly api: ApiConnection;
  readonly lease: LeaseName;
  /** The identity of this process in the election. It must never be used twice. */
  readonly identity: string;
  readonly bus: Pick<Bus, "follow">;
  readonly senders: Readonly<Record<(typeof FACT_TOPICS)[number], FactSender>>;
  readonly projection: ProjectionOptions;
  readonly events: WatcherEvents;
  readonly clock: Clock;
  readonly timing?: { readonly term: TermTiming; readonly election: ElectionTiming };
}): ClusterWatcher {
  const { cluster, api, lease, identity, bus, senders, projection, clock, timing } = options;
  const followers = new Map<string, KindFollower>();
  const troubles = createTroubles(options.events);
  const { events } = troubles;

  const election = startElection({
    lease: createLease(api, { ...lease, timeoutMillis: LEASE_TIMEOUT_MILLIS }),
    identity,
    clock,
    serverNowMillis: () => api.clock.nowMillis(),
    events: {
      onElected: events.onElected,
      onDeposed: events.onDeposed,
      onAnswered: troubles.onAnswered,
      onError: events.onElectionError,
    },
    lead: (term) =>
      watchTerm(term, {
        cluster,
        api,
        bus,
        senders,
        projection,
        events,
        clock,
        timing: timing?.term ?? TERM_TIMING,
        followers,
      }),
    ...(timing === undefined ? {} : { timing: timing.election }),
  });

  return {
    state: () => ({
      cluster,
      ...troubles.state(),
      objects: Object.fromEntries([...followers].map(([resource, { objects }]) => [resource, objects])),
      clockSkewMillis: api.clock.skewMillis,
      silentMillis: Math.max(0, ...[...followers.values()].map((each) => performance.now() - each.heardAt)),
    }),
    async stop() {
      await election.stop();
      api.close();
    },
  };
}

/** The current troubles of a watcher. */
interface Troubles {
  /** The events of the watcher, passed on. */
  readonly events: WatcherEvents;
  /** The election's server has answered. */
  readonly onAnswered: () => void;
  state(): Pick<WatcherState, "watching" | "missing" | "failure">;
}

function createTroubles(events: WatcherEvents): Troubles {
  const missing = new Map<string, MissingPermission>();
  let watching = false;
  /** The current failures, by what was requested: a resource, or the lease. */
  const failures = new Map<string, string>();
  const failed = (what: string, error: unknown): void =>
    void failures.set(what, error instanceof Error ? error.message : String(error));
  const noted: WatcherEvents = {
    ...events,
    onElected(epoch) {
      watching = true;
      events.onElected(epoch);
    },
    onDeposed() {
      watching = false;
      missing.clear();
      failures.clear();
      events.onDeposed();
    },
    onElectionError(error) {
      failed(LEASE, error);
      events.onElectionError(error);
    },
    onLooked() {
      failures.delete(APIS);
      events.onLooked();
    },
    onListed(resource, objects) {
      failures.delete(resource);
      events.onListed(resource, objects);
    },
    onWatchTaken(resource) {
      failures.delete(resource);
      events.onWatchTaken(resource);
    },
    onRemoved(resource) {
      failures.delete(resource);
      events.onRemoved(resource);
    },
    onError(resource, error, againInMillis) {
      if (error.code !== "forbidden" && error.code !== "not-found") failed(resource, error);
      events.onError(resource, error, againInMillis);
    },
    onForbidden(permission) {
      missing.set(`${permission.verb} ${permission.resource}`, permission);
      events.onForbidden(permission);
    },
    onAllowed(permission) {
      missing.delete(`${permission.verb} ${permission.resource}`);
      events.onAllowed(permission);
    },
  };
  return {
    events: noted,
    onAnswered: () => void failures.delete(LEASE),
    state: () => ({ watching, missing: [...missing.values()], failure: [...failures.values()].at(-1) }),
  };
}
