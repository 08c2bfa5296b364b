import type { ApiConnection } from "../../collectors/kubernetes/api/connection.ts";
import { tell } from "../context.ts";

/** One thing that was tried, and how it answered. */
export interface Finding {
  readonly ok: boolean;
  readonly what: string;
  readonly answer: string;
}

/** Tries something: what `run` says of it, or why it failed. */
export async function attempt(what: string, run: () => Promise<string>): Promise<Finding> {
  try {
    return { ok: true, what, answer: await run() };
  } catch (error) {
    return { ok: false, what, answer: tell(error) };
  }
}

/** What the checks of one cluster ask, and how long they wait. */
export interface ClusterUnderCheck {
  readonly name: string;
  readonly api: ApiConnection;
  readonly timeoutMillis: number;
  readonly signal: AbortSignal;
}
