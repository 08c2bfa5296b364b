import type { ListQuery } from "./query.ts";
import { itemText, listHead, type Representation } from "./representation.ts";
import { resourceId, type ApiResource } from "./resources.ts";
import { failure, tooLarge } from "./status.ts";
import { rangeOf, type ObjectStore, type Version } from "./store.ts";
import { indexOfKey } from "./sorted-keys.ts";

/** The content of a continue token, in the encoding of k8s.io/apiserver/pkg/storage: -1 is the current version. */
interface ContinueToken {
  readonly v: "meta.k8s.io/v1";
  readonly rv: number;
  readonly start: string;
}

const LATEST = -1;
const PIECE_CHARACTERS = 64 * 1024;

/** The faults of lists that a test can set. */
export interface ListFaults {
  /** Returns true, and uses up one expiry, if a continue token must appear expired. */
  takeExpiry(): boolean;
  /** The number of versions by which lists with `resourceVersion=0` are late, as on a server with a late cache. */
  readonly lag: number;
}

/**
 * Returns the text of a list in pieces, made on demand from the versions at the time of the call. Fails at once, with a Status, if the list
 * cannot be returned.
 */
export function listOf(
  store: ObjectStore,
  resource: ApiResource,
  request: {
    readonly namespace: string;
    readonly query: ListQuery;
    readonly representation: Representation;
    readonly faults: ListFaults;
  },
): Iterable<string> {
  const { namespace, query, representation, faults } = request;
  const token = query.continue === "" ? undefined : decodeToken(query.continue);
  if (token !== undefined) checkToken(store, token, faults);
  const asOf =
    token === undefined ? versionFor(store, query, faults) : token.rv === LATEST ? store.resourceVersion : token.rv;
  const snapshot = store.snapshot(resourceId(resource), asOf);
  const [first, until] = rangeOf(snapshot.keys, namespace);
  // The watch cache answers for version 0, and it does not page (kubernetes#118394).
  const limit = query.limit === 0 || (query.resourceVersion === 0 && token === undefined) ? Infinity : query.limit;
  const chosen: Version[] = [];
  let index = token === undefined ? first : Math.max(first, indexOfKey(snapshot.keys, token.start));
  for (; index < until && chosen.length < limit; index++) {
    const version = snapshot.get(snapshot.keys[index]!)!;
    if (query.selects(version.object)) chosen.push(version);
  }
  const metadata = {
    resourceVersion: String(asOf),
    ...(index < until
      ? {
          continue: encodeToken({ v: "meta.k8s.io/v1", rv: asOf, start: `${snapshot.keys[index - 1]!}\0` }),
          ...(query.hasSelector ? {} : { remainingItemCount: until - index }),
        }
      : {}),
  };
  return pieces(listHead(resource, representation, metadata), chosen, (version) =>
    itemText(resource, version, representation),
  );
}

function versionFor(store: ObjectStore, { resourceVersion, match, limit }: ListQuery, faults: ListFaults): number {
  const current = store.resourceVersion;
  if (resourceVersion === undefined) return current;
  if (resourceVersion === 0) return Math.max(store.compactedVersion, current - faults.lag);
  if (resourceVersion > current) throw tooLarge(resourceVersion, current);
  // A limit without a match means this very version: the older meaning, kept for older clients.
  if (match === "Exact" || (match === "" && limit > 0)) {
    if (resourceVersion < store.compactedVersion) {
      throw failure(410, "Expired", "The resourceVersion for the provided list is too old.");
    }
    return resourceVersion;
  }
  return current;
}

function checkToken(store: ObjectStore, token: ContinueToken, faults: ListFaults): void {
  if (token.rv === LATEST) return;
  if (!faults.takeExpiry() && token.rv >= store.compactedVersion) return;
  const message = "The provided continue parameter is too old to display a consistent list result.";
  throw failure(410, "Expired", message, { metadata: { continue: encodeToken({ ...token, rv: LATEST }) } });
}

function* pieces(head: string, versions: readonly Version[], textOf: (version: Version) => string): Iterable<string> {
  let text = head;
  for (const [i, version] of versions.entries()) {
    text += i === 0 ? textOf(version) : `,${textOf(version)}`;
    if (text.length < PIECE_CHARACTERS) continue;
    yield text;
    text = "";
  }
  yield `${text}]}\n`;
}

function encodeToken(token: ContinueToken): string {
  return Buffer.from(JSON.stringify(token)).toString("base64url");
}

function decodeToken(text: string): ContinueToken {
  try {
    const token = JSON.parse(Buffer.from(text, "base64url").toString("utf8")) as Partial<ContinueToken>;
    if (token.v === "meta.k8s.io/v1" && typeof token.rv === "number" && typeof token.start === "string") {
      return { v: token.v, rv: token.rv, start: token.start };
    }
  } catch {
    // Handled below, as for every text that is not a token.
  }
  throw failure(400, "BadRequest", "continue key is not valid");
}
