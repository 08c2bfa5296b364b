import type { ApiConnection } from "../../collectors/kubernetes/api/connection.ts";
import { errorText } from "../context.ts";

/** One check and its result. */
export interface Finding {
  readonly ok: boolean;
  /** Set if everything works, and somebody will still miss something. */
  readonly warns?: true;
  readonly what: string;
  readonly answer: string;
}

/** Runs a check. Returns the result of `run`, or the reason of its failure. */
export async function attempt(what: string, run: () => Promise<string>): Promise<Finding> {
  try {
    return { ok: true, what, answer: await run() };
  } catch (error) {
    return { ok: false, what, answer: errorText(error) };
  }
}

/** The dependencies of the checks of one cluster, with their time limits. */
export interface ClusterUnderCheck {
  readonly name: string;
  readonly api: ApiConnection;
  readonly timeoutMillis: number;
  readonly signal: AbortSignal;
}
