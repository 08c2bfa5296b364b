import type { FactEnd, FactOrigin } from "../../../domain/fact.ts";
import { compareFacts } from "../../../domain/fact.ts";
import type { FactMessage } from "../../../domain/messages/fact-message.ts";

/** What every fact carries beside its own: whose it is. */
export type AnyFact = FactOrigin & { readonly uid: string; readonly end?: FactEnd };

/** A fact without what the book adds. */
export type FactBody<Fact extends AnyFact> = Fact extends AnyFact ? Omit<Fact, keyof FactOrigin | "end"> : never;

/** When and in which version an object was seen. */
export interface Sight {
  readonly resourceVersion: string;
  readonly atMillis: number;
}

/** A message on its way to the bus; without a value, a tombstone. */
export type BookMessage = Pick<FactMessage, "key"> & { readonly value: Uint8Array | null };

/** What has been said on one topic of the objects of one cluster, and the way to say more. */
export interface FactBook<Fact extends AnyFact> {
  /** Takes a fact that was said before this term; ones of other clusters are passed over. */
  restore(fact: Fact): void;
  /** The highest term that has said anything. */
  readonly highestEpoch: number;
  /** The last that was said of an object that is not gone. */
  latest(uid: string): FactBody<Fact> | undefined;
  /**
   * Says what an object is now, unless that was said already: a change of what nobody asks for, a heartbeat for one, is no
   * news. What a former term said is said again where the object has another version, as its watcher may still speak of a
   * version in between.
   */
  tell(body: FactBody<Fact>, sight: Sight): void;
  /** Says anew what is known of an object, changed by what was seen elsewhere than in itself; nothing where it is not known. */
  amend(uid: string, atMillis: number, change: (body: FactBody<Fact>) => FactBody<Fact>): void;
  /** Says that an object is gone; nothing where that was said, or where another object has its place. */
  end(uid: string, end: FactEnd, sight: Sight, amend?: (body: FactBody<Fact>) => FactBody<Fact>): void;
  /** The objects that are not known to be gone, and when each was seen last. */
  living(): Iterable<{ readonly uid: string; readonly resource: string; readonly sight: Sight }>;
  /** Lays to rest what ended before a time: tombstones let the bus forget it. Gives their number. */
  bury(beforeMillis: number): number;
}

interface Entry {
  readonly key: string;
  readonly resource: string;
  readonly epoch: number;
  readonly sight: Sight;
  /** As JSON. */
  readonly body: Buffer;
}

/** A book with nothing in it. `resourceOf` names the resource that a fact comes from. */
export function createFactBook<Fact extends AnyFact>(options: {
  readonly cluster: string;
  readonly encode: (fact: Fact) => FactMessage;
  readonly resourceOf: (body: FactBody<Fact>) => string;
  /** The term that speaks; asked when something is said. */
  readonly epoch: () => number;
  readonly send: (message: BookMessage) => void;
}): FactBook<Fact> {
  const { cluster, encode, resourceOf, epoch, send } = options;
  const entries = new Map<string, Entry>();
  /** Which object has a place on the bus now: a node's name goes from one machine to the next. */
  const places = new Map<string, { readonly uid: string; readonly said: Said }>();
  const ended = new Map<string, number>();
  let highestEpoch = 0;

  type Said = Pick<FactOrigin, "epoch" | "resourceVersion" | "seenAtMillis"> & { readonly end?: FactEnd };

  function say(body: FactBody<Fact>, { resourceVersion, atMillis }: Sight, end?: FactEnd): void {
    const origin = { cluster, epoch: epoch(), resourceVersion, seenAtMillis: atMillis };
    const fact = { ...origin, ...body, ...(end === undefined ? {} : { end }) } as unknown as Fact;
    const { key, value } = encode(fact);
    record(key, fact, body);
    send({ key, value });
  }

  function record(
    key: string,
    { epoch: term, resourceVersion, seenAtMillis, end, uid }: Fact,
    body: FactBody<Fact>,
  ): void {
    const former = places.get(key);
    if (former !== undefined && former.uid !== uid) entries.delete(former.uid);
    places.set(key, {
      uid,
      said: { epoch: term, resourceVersion, seenAtMillis, ...(end === undefined ? {} : { end }) },
    });
    if (end !== undefined) {
      entries.delete(uid);
      ended.set(key, end.atMillis);
      return;
    }
    ended.delete(key);
    const sight = { resourceVersion, atMillis: seenAtMillis };
    entries.set(uid, { key, resource: resourceOf(body), epoch: term, sight, body: Buffer.from(JSON.stringify(body)) });
  }

  function tell(body: FactBody<Fact>, sight: Sight): void {
    const known = entries.get(body.uid);
    const isSaid =
      known !== undefined &&
      (known.epoch === epoch() || known.sight.resourceVersion === sight.resourceVersion) &&
      known.body.equals(Buffer.from(JSON.stringify(body)));
    if (!isSaid) say(body, sight);
  }

  return {
    tell,
    amend(uid, atMillis, change) {
      const entry = entries.get(uid);
      if (entry !== undefined)
        tell(change(bodyOf<Fact>(entry)), { resourceVersion: entry.sight.resourceVersion, atMillis });
    },
    get highestEpoch() {
      return highestEpoch;
    },
    restore(fact) {
      if (fact.cluster !== cluster) return;
      highestEpoch = Math.max(highestEpoch, fact.epoch);
      const { key } = encode(fact);
      const former = places.get(key);
      if (former !== undefined && compareFacts(former.said, fact) > 0) return;
      const { cluster: _, epoch: __, resourceVersion: ___, seenAtMillis: ____, end: _____, ...body } = fact;
      record(key, fact, body as unknown as FactBody<Fact>);
    },
    latest(uid) {
      const entry = entries.get(uid);
      return entry === undefined ? undefined : bodyOf<Fact>(entry);
    },
    end(uid, end, sight, amend = (body) => body) {
      const entry = entries.get(uid);
      if (entry !== undefined) say(amend(bodyOf<Fact>(entry)), sight, end);
    },
    *living() {
      for (const [uid, { resource, sight }] of entries) yield { uid, resource, sight };
    },
    bury(beforeMillis) {
      let buried = 0;
      for (const [key, atMillis] of ended) {
        if (atMillis >= beforeMillis) continue;
        send({ key, value: null });
        ended.delete(key);
        places.delete(key);
        buried += 1;
      }
      return buried;
    },
  };
}

function bodyOf<Fact extends AnyFact>({ body }: Entry): FactBody<Fact> {
  return JSON.parse(body.toString("utf8")) as FactBody<Fact>;
}
