import { DIALECTS } from "../../../domain/dialect/known.ts";

/** The use of a series: a value of a GPU, the state of a target, or a pod with its node. */
export type SeriesRole = "gpu" | "up" | "pod";

/** Returns the use of a series by its name; undefined if the series is not kept. */
export function roleOf(name: string): SeriesRole | undefined {
  if (name === "up") return "up";
  if (name === "kube_pod_info") return "pod";
  return DIALECTS.some(({ owns }) => owns(name)) ? "gpu" : undefined;
}

interface KnownName {
  readonly bytes: Buffer;
  readonly role: SeriesRole | undefined;
}

/** The most names that are remembered. A Prometheus has a few thousand. */
const MOST_NAMES = 20_000;
const LONGEST_NAME = 512;

/** Finds the role of a series by the bytes of its name. */
export interface Roles {
  of(body: Buffer, start: number, end: number): SeriesRole | undefined;
}

/** Creates roles without a remembered name. */
export function createRoles(): Roles {
  const names = new Map<number, KnownName>();
  return {
    of(body, start, end) {
      if (end - start > LONGEST_NAME) return undefined;
      let hash = end - start;
      for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + body[at]!) | 0;
      const known = names.get(hash);
      if (known !== undefined && known.bytes.compare(body, start, end) === 0) return known.role;
      const bytes = Buffer.from(body.subarray(start, end));
      const role = roleOf(bytes.toString("utf8"));
      if (names.size >= MOST_NAMES) names.clear();
      names.set(hash, { bytes, role });
      return role;
    },
  };
}
