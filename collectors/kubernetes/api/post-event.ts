import type { OwnerReference } from "../../../domain/workload.ts";
import { ApiError } from "./api-error.ts";
import type { ApiConnection } from "./connection.ts";

/** An Event about an object (https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/). */
export interface ObjectEvent {
  readonly namespace: string;
  /** A second Event of the same name is not posted. */
  readonly name: string;
  readonly object: OwnerReference;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

const COMPONENT = "gpu-ledger";
/** The longest message that the API accepts for Events of events.k8s.io. */
const MOST_CHARACTERS = 1024;
const SILENCE_MILLIS = 10_000;

/** Posts an Event, if there is no Event of this name in its namespace yet. Fails with an {@link ApiError} or the signal's reason. */
export async function postEvent(api: ApiConnection, event: ObjectEvent, signal: AbortSignal): Promise<void> {
  const { namespace, name, object, type, reason, message, at } = event;
  const { uid, ...reference } = object;
  const timestamp = `${new Date(at).toISOString().slice(0, 19)}Z`;
  const body = {
    apiVersion: "v1",
    kind: "Event",
    metadata: { namespace, name },
    involvedObject: { ...reference, namespace, ...(uid === "" ? {} : { uid }) },
    type,
    reason,
    message: message.length > MOST_CHARACTERS ? `${message.slice(0, MOST_CHARACTERS - 1)}…` : message,
    source: { component: COMPONENT },
    firstTimestamp: timestamp,
    lastTimestamp: timestamp,
    count: 1,
  };
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`;
  try {
    await api.json({ method: "POST", path, body, silenceMillis: SILENCE_MILLIS, signal });
  } catch (error) {
    if (error instanceof ApiError && error.code === "conflict") return;
    throw error;
  }
}
