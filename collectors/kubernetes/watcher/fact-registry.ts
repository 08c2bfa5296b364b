import { compareFacts, type FactEnd, type FactOrigin } from "../../../domain/fact.ts";

/** The common fields of every fact. */
export type AnyFact = FactOrigin & { readonly uid: string; readonly end?: FactEnd };

/** A fact without the fields that the registry adds. */
export type FactBody<Fact extends AnyFact> = Fact extends AnyFact ? Omit<Fact, keyof FactOrigin | "end"> : never;

/** The time and the version at which an object was seen. */
export interface Sight {
  readonly resourceVersion: string;
  readonly atMillis: number;
}

/** A message for the bus; without a value, a tombstone. */
export interface RegistryMessage {
  readonly key: string;
  readonly value: Uint8Array | null;
}

/** The facts of one cluster that were sent on one topic, with functions to send more. */
export interface FactRegistry<Fact extends AnyFact> {
  /** Takes a fact that was sent before this term. Facts of other clusters are ignored. */
  restore(fact: Fact): void;
  /** The highest term with a fact. */
  readonly highestEpoch: number;
  /** Returns the latest fact of an object that still exists. */
  latest(uid: string): FactBody<Fact> | undefined;
  /**
   * Sends the current state of an object, unless the same state was sent already: a change that no consumer needs, for example a heartbeat,
   * is not sent. A fact of an earlier term is sent again if the object has another version, because its watcher may still send a version in
   * between.
   */
  report(body: FactBody<Fact>, sight: Sight): void;
  /**
   * Sends the latest fact of an object again, changed by data that was seen outside the object, or its end if the change returns nothing.
   * Sends nothing if the object is unknown.
   */
  amend(uid: string, atMillis: number, change: (body: FactBody<Fact>) => FactBody<Fact> | undefined): void;
  /** Sends the end of an object; nothing if it was sent already, or if another object has its key. */
  end(uid: string, end: FactEnd, sight: Sight, amend?: (body: FactBody<Fact>) => FactBody<Fact>): void;
  /** Returns the objects without a known end, with the time at which each was last seen. */
  living(): Iterable<{ readonly uid: string; readonly resource: string; readonly sight: Sight }>;
  /** Sends tombstones for objects that ended before a time, so that the bus can drop them. Returns their number. */
  removeEnded(beforeMillis: number): number;
}

interface Entry {
  readonly resource: string;
  readonly epoch: number;
  readonly sight: Sight;
  /** The body as JSON: the text takes a tenth of the memory of the object, and comparison is fast. */
  readonly text: string;
}

/** The last fact under a key of the bus. A node's name passes from one machine to the next. */
interface Recorded {
  readonly uid: string;
  readonly order: Pick<FactOrigin, "epoch" | "resourceVersion" | "seenAtMillis"> & { readonly end?: FactEnd };
}

const utf8 = new TextEncoder();

/** The last facts of a registry. */
interface Records<Fact extends AnyFact> {
  /** The objects without an end, by UID. */
  readonly entries: ReadonlyMap<string, Entry>;
  /** By key. */
  readonly recorded: ReadonlyMap<string, Recorded>;
  record(key: string, body: FactBody<Fact>, text: string, order: Recorded["order"]): void;
  /** Forgets objects that ended before a time. Returns their number. */
  removeEnded(beforeMillis: number, onRemoved: (key: string) => void): number;
}

function createRecords<Fact extends AnyFact>(resourceOf: (body: FactBody<Fact>) => string): Records<Fact> {
  const entries = new Map<string, Entry>();
  const recorded = new Map<string, Recorded>();
  const ended = new Map<string, number>();
  return {
    entries,
    recorded,
    record(key, body, text, order) {
      const { uid } = body;
      const former = recorded.get(key);
      if (former !== undefined && former.uid !== uid) entries.delete(former.uid);
      recorded.set(key, { uid, order });
      if (order.end !== undefined) {
        entries.delete(uid);
        ended.set(key, order.end.atMillis);
        return;
      }
      ended.delete(key);
      const sight = { resourceVersion: order.resourceVersion, atMillis: order.seenAtMillis };
      entries.set(uid, { resource: resourceOf(body), epoch: order.epoch, sight, text });
    },
    removeEnded(beforeMillis, onRemoved) {
      let removed = 0;
      for (const [key, atMillis] of ended) {
        if (atMillis >= beforeMillis) continue;
        onRemoved(key);
        ended.delete(key);
        recorded.delete(key);
        removed += 1;
      }
      return removed;
    },
  };
}

/** Creates an empty registry. */
export function createFactRegistry<Fact extends AnyFact>(options: {
  readonly cluster: string;
  /** Returns the key of a fact on the bus. */
  readonly keyOf: (fact: FactBody<Fact> & { readonly cluster: string }) => string;
  /** Returns the resource that a fact comes from, as kubectl names it. */
  readonly resourceOf: (body: FactBody<Fact>) => string;
  /** Returns the current term. Called when a fact is sent. */
  readonly epoch: () => number;
  /**
   * Raises the term, because the next fact of an object would otherwise be ordered before its last one: its versions went back with the
   * server's, or it was reported as ended and still exists.
   */
  readonly renew: () => void;
  readonly send: (message: RegistryMessage) => void;
}): FactRegistry<Fact> {
  const { cluster, keyOf, resourceOf, epoch, renew, send } = options;
  const { entries, recorded, record, removeEnded } = createRecords<Fact>(resourceOf);
  let highestEpoch = 0;

  function issue(body: FactBody<Fact>, text: string, { resourceVersion, atMillis }: Sight, end?: FactEnd): void {
    const key = keyOf({ ...body, cluster });
    const former = recorded.get(key)?.order;
    // Facts of one version have an order by their times. Objects of one list are seen at the same time, and can change one fact often.
    const isAgain = former?.epoch === epoch() && former.resourceVersion === resourceVersion && former.end === end;
    const seenAtMillis = isAgain ? Math.max(atMillis, former.seenAtMillis + 1) : atMillis;
    const of = { resourceVersion, seenAtMillis, ...(end === undefined ? {} : { end }) };
    if (former !== undefined && compareFacts({ epoch: epoch(), ...of }, former) < 0) renew();
    const order = { epoch: epoch(), ...of };
    record(key, body, text, order);
    // The body is serialized once, for the message and for the registry, and joined with the other fields.
    send({ key, value: utf8.encode(`${JSON.stringify({ cluster, ...order }).slice(0, -1)},${text.slice(1)}`) });
  }

  function report(body: FactBody<Fact>, sight: Sight): void {
    const known = entries.get(body.uid);
    const text = JSON.stringify(body);
    const isSent =
      known !== undefined &&
      (known.epoch === epoch() || known.sight.resourceVersion === sight.resourceVersion) &&
      known.text === text;
    if (!isSent) issue(body, text, sight);
  }

  return {
    report,
    get highestEpoch() {
      return highestEpoch;
    },
    restore(fact) {
      const { cluster: of, epoch: term, resourceVersion, seenAtMillis, end, ...rest } = fact;
      if (of !== cluster) return;
      highestEpoch = Math.max(highestEpoch, term);
      const body = rest as unknown as FactBody<Fact>;
      const key = keyOf({ ...body, cluster });
      const former = recorded.get(key);
      if (former !== undefined && compareFacts(former.order, fact) > 0) return;
      const order = { epoch: term, resourceVersion, seenAtMillis, ...(end === undefined ? {} : { end }) };
      record(key, body, JSON.stringify(body), order);
    },
    latest(uid) {
      const entry = entries.get(uid);
      return entry === undefined ? undefined : bodyOf<Fact>(entry);
    },
    amend(uid, atMillis, change) {
      const entry = entries.get(uid);
      if (entry === undefined) return;
      const body = bodyOf<Fact>(entry);
      const changed = change(body);
      const sight = { resourceVersion: entry.sight.resourceVersion, atMillis };
      if (changed === undefined) issue(body, entry.text, sight, { atMillis, inferred: false });
      else report(changed, sight);
    },
    end(uid, end, sight, amend = (body) => body) {
      const entry = entries.get(uid);
      if (entry === undefined) return;
      const body = amend(bodyOf<Fact>(entry));
      issue(body, JSON.stringify(body), sight, end);
    },
    *living() {
      for (const [uid, { resource, sight }] of entries) yield { uid, resource, sight };
    },
    removeEnded: (beforeMillis) => removeEnded(beforeMillis, (key) => send({ key, value: null })),
  };
}

function bodyOf<Fact extends AnyFact>({ text }: Entry): FactBody<Fact> {
  return JSON.parse(text) as FactBody<Fact>;
}
