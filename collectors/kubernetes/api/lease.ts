import { ApiError } from "./api-error.ts";
import type { ApiConnection } from "./connection.ts";
import { pathOf, type ApiResource } from "./resource.ts";

/** The Lease resource, Kubernetes' object for elections (https://kubernetes.io/docs/concepts/architecture/leases/). */
export const LEASES: ApiResource = { group: "coordination.k8s.io", version: "v1", plural: "leases", kind: "Lease" };

/** The state of a lease: its holder and times. */
export interface LeaseState {
  readonly resourceVersion: string;
  /** Empty if the lease was released. */
  readonly holder: string;
  readonly durationMillis: number;
  /** When the holder's term began, milliseconds since the epoch by the server's clock. */
  readonly acquiredAtMillis: number;
  readonly renewedAtMillis: number;
  readonly transitions: number;
}

/** A lease on the API server. Every method fails with an `ApiError`; with `conflict` if another client was faster. */
export interface Lease {
  /** Reads the lease; `undefined` if it does not exist yet. */
  read(): Promise<LeaseState | undefined>;
  /** Writes a state in place of the one that was read, or creates the lease. */
  write(state: Omit<LeaseState, "resourceVersion">, former: LeaseState | undefined): Promise<LeaseState>;
}

interface LeaseObject {
  readonly metadata: { readonly resourceVersion?: string };
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

/** Creates a lease client by name. A request that takes longer than `timeoutMillis` fails as `unavailable`. */
export function createLease(
  api: ApiConnection,
  {
    namespace,
    name,
    timeoutMillis,
  }: { readonly namespace: string; readonly name: string; readonly timeoutMillis: number },
): Lease {
  const ask = (method: "GET" | "POST" | "PUT", path: string, body?: unknown): Promise<LeaseObject> =>
    api.json<LeaseObject>({
      method,
      path,
      silenceMillis: timeoutMillis,
      signal: AbortSignal.timeout(timeoutMillis),
      ...(body === undefined ? {} : { body }),
    });
  const one = pathOf(LEASES, { namespace, name });

  return {
    async read() {
      try {
        return stateOf(await ask("GET", one));
      } catch (error) {
        if (error instanceof ApiError && error.code === "not-found") return undefined;
        throw error;
      }
    },
    async write(state, former) {
      const body = {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: {
          name,
          namespace,
          ...(former === undefined ? {} : { resourceVersion: former.resourceVersion }),
        },
        spec: {
          holderIdentity: state.holder,
          leaseDurationSeconds: Math.ceil(state.durationMillis / 1000),
          acquireTime: microTime(state.acquiredAtMillis),
          renewTime: microTime(state.renewedAtMillis),
          leaseTransitions: state.transitions,
        },
      };
      if (former !== undefined) return stateOf(await ask("PUT", one, body));
      return stateOf(await ask("POST", one.slice(0, one.lastIndexOf("/")), body));
    },
  };
}

/** Formats a MicroTime, the type of a lease's times: six decimal digits of seconds. */
function microTime(millis: number): string {
  return new Date(millis).toISOString().replace("Z", "000Z");
}

function stateOf({ metadata, spec = {} }: LeaseObject): LeaseState {
  return {
    resourceVersion: metadata.resourceVersion ?? "",
    holder: spec.holderIdentity ?? "",
    durationMillis: (spec.leaseDurationSeconds ?? 0) * 1000,
    acquiredAtMillis: Date.parse(spec.acquireTime ?? "") || 0,
    renewedAtMillis: Date.parse(spec.renewTime ?? "") || 0,
    transitions: spec.leaseTransitions ?? 0,
  };
}
