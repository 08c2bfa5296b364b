import { compareFacts, type FactEnd, type FactOrigin } from "../../../domain/fact.ts";

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
export interface BookMessage {
  readonly key: string;
  readonly value: Uint8Array | null;
}

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
  readonly resource: string;
  readonly epoch: number;
  readonly sight: Sight;
  /** The body as JSON: a text takes a tenth of the memory of what it says, and is compared in no time. */
  readonly text: string;
}

/** What was said last under a key of the bus: a node's name goes from one machine to the next. */
interface Place {
  readonly uid: string;
  readonly said: Pick<FactOrigin, "epoch" | "resourceVersion" | "seenAtMillis"> & { readonly end?: FactEnd };
}

const utf8 = new TextEncoder();

/** A book with nothing in it. */
export function createFactBook<Fact extends AnyFact>(options: {
  readonly cluster: string;
  /** The key of a fact on the bus. */
  readonly keyOf: (fact: FactBody<Fact> & { readonly cluster: string }) => string;
  /** The resource that a fact comes from, as kubectl names it. */
  readonly resourceOf: (body: FactBody<Fact>) => string;
  /** The term that speaks; asked when something is said. */
  readonly epoch: () => number;
  /**
   * Raises the term: what is said next of an object would stand behind what was said of it. Its versions went back with the
   * server's, or it was taken for gone and is there.
   */
  readonly renew: () => void;
  readonly send: (message: BookMessage) => void;
}): FactBook<Fact> {
  const { cluster, keyOf, resourceOf, epoch, renew, send } = options;
  const entries = new Map<string, Entry>();
  const places = new Map<string, Place>();
  const ended = new Map<string, number>();
  let highestEpoch = 0;

  function record(key: string, body: FactBody<Fact>, text: string, said: Place["said"]): void {
    const { uid } = body;
    const former = places.get(key);
    if (former !== undefined && former.uid !== uid) entries.delete(former.uid);
    places.set(key, { uid, said });
    if (said.end !== undefined) {
      entries.delete(uid);
      ended.set(key, said.end.atMillis);
      return;
    }
    ended.delete(key);
    const sight = { resourceVersion: said.resourceVersion, atMillis: said.seenAtMillis };
    entries.set(uid, { resource: resourceOf(body), epoch: said.epoch, sight, text });
  }

  function say(body: FactBody<Fact>, text: string, { resourceVersion, atMillis }: Sight, end?: FactEnd): void {
    const key = keyOf({ ...body, cluster });
    const of = { resourceVersion, seenAtMillis: atMillis, ...(end === undefined ? {} : { end }) };
    const former = places.get(key)?.said;
    if (former !== undefined && compareFacts({ epoch: epoch(), ...of }, former) < 0) renew();
    const said = { epoch: epoch(), ...of };
    record(key, body, text, said);
    // One object of two: the body is written once, for its message and for the book.
    send({ key, value: utf8.encode(`${JSON.stringify({ cluster, ...said }).slice(0, -1)},${text.slice(1)}`) });
  }

  function tell(body: FactBody<Fact>, sight: Sight): void {
    const known = entries.get(body.uid);
    const text = JSON.stringify(body);
    const isSaid =
      known !== undefined &&
      (known.epoch === epoch() || known.sight.resourceVersion === sight.resourceVersion) &&
      known.text === text;
    if (!isSaid) say(body, text, sight);
  }

  return {
    tell,
    get highestEpoch() {
      return highestEpoch;
    },
    restore(fact) {
      const { cluster: of, epoch: term, resourceVersion, seenAtMillis, end, ...rest } = fact;
      if (of !== cluster) return;
      highestEpoch = Math.max(highestEpoch, term);
      const body = rest as unknown as FactBody<Fact>;
      const key = keyOf({ ...body, cluster });
      const former = places.get(key);
      if (former !== undefined && compareFacts(former.said, fact) > 0) return;
      const said = { epoch: term, resourceVersion, seenAtMillis, ...(end === undefined ? {} : { end }) };
      record(key, body, JSON.stringify(body), said);
    },
    latest(uid) {
      const entry = entries.get(uid);
      return entry === undefined ? undefined : bodyOf<Fact>(entry);
    },
    amend(uid, atMillis, change) {
      const entry = entries.get(uid);
      if (entry === undefined) return;
      tell(change(bodyOf<Fact>(entry)), { resourceVersion: entry.sight.resourceVersion, atMillis });
    },
    end(uid, end, sight, amend = (body) => body) {
      const entry = entries.get(uid);
      if (entry === undefined) return;
      const body = amend(bodyOf<Fact>(entry));
      say(body, JSON.stringify(body), sight, end);
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

function bodyOf<Fact extends AnyFact>({ text }: Entry): FactBody<Fact> {
  return JSON.parse(text) as FactBody<Fact>;
}
