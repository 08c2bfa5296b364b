import { SCRAPE_SCHEMA_VERSION, sampleKey } from "../../../domain/messages/scrape-message.ts";
import { BusError } from "../../../runtime/bus/bus.ts";
import type { SampleSink } from "../../exporters/collector-model.ts";
import type { HostMessage } from "../target-series.ts";
import type { MomentHold } from "./moment-hold.ts";
import type { Moment } from "./model.ts";
import type { PushedTarget } from "./model.ts";
import type { MomentMessages, TargetMessages } from "./target-messages.ts";

/** The outcome of a moment. */
export type MomentOutcome = "sent" | "repeated" | "failed-scrape" | "without-gpu";

/** Sends moments that are complete. */
export interface MomentSender {
  /** Sends the moments that are complete now, in slices of a few milliseconds. Resolves when all were given to the sink. */
  tick(): Promise<void>;
  /** The messages that the sink has not accepted yet. */
  readonly inFlight: number;
  /** Resolves when the sink has accepted all messages. */
  settled(): Promise<void>;
}

/** A complete moment waits for samples of the same time that are in other requests. */
const GRACE_MILLIS = 1_000;
/** The wait for a later moment, if all series of the former moment have arrived. */
const FULL_MILLIS = 2_000;
/** The wait of the first moment of a target. Its series are not known yet. */
const FIRST_MILLIS = 5_000;
/** The wait for the missing series of a moment. */
const LACKING_MILLIS = 10_000;
const SLICE_MILLIS = 10;
const MOST_IN_FLIGHT = 4_000;
/** The most moments of one target that are being sent, so that others have their turn. */
const MOST_OF_TARGET = 64;
/** A layout is replaced if it has more than 4 slots for a live series, and these more. */
const SPARE_SLOTS = 256;

/** Creates a sender. */
export function createMomentSender(options: {
  readonly hold: MomentHold;
  readonly messages: TargetMessages;
  readonly sink: SampleSink;
  readonly monotonicMillis: () => number;
  /** True while a target without a known node waits for the pods. */
  readonly isLearning: (target: PushedTarget) => boolean;
  readonly onMoment: (outcome: MomentOutcome, target: PushedTarget, messages: number) => void;
  readonly onError: (target: PushedTarget, error: unknown) => void;
}): MomentSender {
  const { hold, messages: maker, sink, monotonicMillis, isLearning, onMoment, onError } = options;
  const sending = new Set<Promise<void>>();
  /** The number of moments of each target that are being sent. */
  const ofTargets = new Map<PushedTarget, number>();
  let inFlight = 0;

  /** Returns the messages of a moment. A moment without messages must not keep others from being sent. */
  function messagesOf(moment: Moment): MomentMessages {
    try {
      return maker.of(moment);
    } catch (error) {
      onError(moment.target, error);
      return { messages: [], failure: undefined, isNodeUnknown: false };
    }
  }

  function send(moment: Moment): void {
    const { target } = moment;
    const made = messagesOf(moment);
    if (made.isNodeUnknown && isLearning(target)) {
      moment.arrivedMillis = monotonicMillis();
      return;
    }
    const isRepeated = moment.sentAtMillis > 0;
    hold.sending(moment);
    moment.isSending = true;
    moment.isChanged = false;
    learn(moment, made.messages, made.failure?.detail);
    inFlight += made.messages.length;
    ofTargets.set(target, (ofTargets.get(target) ?? 0) + 1);
    const done = give({ sink, maker }, moment, made.messages, made.failure !== undefined)
      .then(
        () => {
          const outcome = made.failure === undefined ? (isRepeated ? "repeated" : "sent") : "failed-scrape";
          onMoment(made.messages.length === 0 ? "without-gpu" : outcome, target, made.messages.length);
        },
        (error: unknown) => {
          onError(target, error);
          // Again after a wait.
          moment.arrivedMillis = monotonicMillis();
          moment.isChanged = true;
        },
      )
      .then(() => {
        inFlight -= made.messages.length;
        const others = ofTargets.get(target)! - 1;
        if (others === 0) ofTargets.delete(target);
        else ofTargets.set(target, others);
        moment.isSending = false;
        if (moment.isChanged) hold.changed(moment);
        else hold.sent(moment, monotonicMillis());
        sending.delete(done);
      });
    sending.add(done);
  }

  return {
    get inFlight() {
      return inFlight;
    },
    async tick() {
      const now = monotonicMillis();
      let until = performance.now() + SLICE_MILLIS;
      for (const moment of hold.unsent) {
        if (inFlight > MOST_IN_FLIGHT) return;
        if (!moment.isChanged || !isComplete(moment, now)) continue;
        if ((ofTargets.get(moment.target) ?? 0) >= MOST_OF_TARGET) continue;
        send(moment);
        if (performance.now() < until) continue;
        await new Promise((resolve) => setImmediate(resolve));
        until = performance.now() + SLICE_MILLIS;
      }
    },
    async settled() {
      while (sending.size > 0) await Promise.all(sending);
    },
  };
}

/** Gives messages to the sink. Those that are too large for the bus become messages of a failed scrape. */
async function give(
  { sink, maker }: { readonly sink: SampleSink; readonly maker: TargetMessages },
  moment: Moment,
  messages: readonly HostMessage[],
  isFailed: boolean,
): Promise<void> {
  const unsent: HostMessage[] = [];
  let refusal: BusError | undefined;
  await Promise.all(
    messages.map(async (each) => {
      try {
        await sink({ key: sampleKey(each.origin), value: each.message, schemaVersion: SCRAPE_SCHEMA_VERSION });
      } catch (error) {
        if (isFailed || !(error instanceof BusError) || error.code !== "too-large") throw error;
        refusal = error;
        unsent.push(each);
      }
    }),
  );
  if (refusal === undefined) return;
  const failed = maker.failed(moment, { reason: "too-large", detail: refusal.message });
  const keys = new Set(unsent.map(({ origin }) => sampleKey(origin)));
  await give(
    { sink, maker },
    moment,
    failed.filter(({ origin }) => keys.has(sampleKey(origin))),
    true,
  );
}

/** Returns whether the samples of a moment have arrived, as far as that can be seen. */
function isComplete({ target, atMillis, count, arrivedMillis, sentAtMillis }: Moment, nowMillis: number): boolean {
  const idle = nowMillis - arrivedMillis;
  if (sentAtMillis > 0) return idle >= FULL_MILLIS;
  if (target.expected === 0) return idle >= FIRST_MILLIS;
  if (count < target.expected) return idle >= LACKING_MILLIS;
  return idle >= (target.newestMillis > atMillis ? GRACE_MILLIS : FULL_MILLIS);
}

/** Notes on the target what its newest moment has. */
function learn(moment: Moment, messages: readonly HostMessage[], failure: string | undefined): void {
  const { target, values, up, count } = moment;
  moment.lacksSeries = count < target.expected;
  if (moment.atMillis < target.newestMillis && target.expected > 0) return;
  const live = values.reduce((sum, value) => (Number.isNaN(value) ? sum : sum + 1), 0);
  target.expected = live + (up === undefined ? 0 : 1);
  target.failure = failure;
  if (failure === undefined && live > 0) target.lastMessage = messages[0]?.message;
  if (live > 0 && target.layout.slots.length > 4 * live + SPARE_SLOTS) target.replaceLayout();
}
