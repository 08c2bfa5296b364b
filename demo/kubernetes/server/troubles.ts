import type { LoggedRequest, RequestMatch } from "./request-log.ts";
import type { WireShape } from "./wire.ts";

/** An answer instead of the right one. */
export interface FailedAnswer {
  readonly status: number;
  readonly retryAfterSeconds?: number;
}

/** The troubles of a server's answers, until {@link Troubles.clear} or until their count is used up. */
export interface Troubles {
  /** Answers the next `times` matching requests with an error: 429 with the time to wait, 500, 503. */
  fail(answer: FailedAnswer, times?: number, match?: RequestMatch): void;
  /** Cuts the next `times` matching bodies after a number of bytes. */
  cutBodies(afterBytes: number, times?: number, match?: RequestMatch): void;
  /** Sends bodies, also of watches, in chunks of random sizes. */
  chunkBodies(seed: number): void;
  slowBodies(bytesPerSecond: number, match?: RequestMatch): void;
  /** Lets the next `times` continue tokens appear expired. */
  expireContinueTokens(times?: number): void;
  /** Makes lists with `resourceVersion=0` late by a number of versions. */
  lagLists(versions: number): void;
  /** Sets the difference of the server's clock: ahead if positive, behind if negative. */
  skewClock(millis: number): void;
  /** Sets how a version that is too old for a watch is refused. */
  refuseTooOldAs(how: "status" | "event"): void;
  /** Streaming lists are not offered: they are refused with this code, or accepted and then refused by an ERROR event in the stream. */
  refuseStreamingLists(how: 400 | 422 | "event"): void;
  /** The server starts: for the given time everything is forbidden, and `/apis` lacks the groups of custom resources. */
  startUp(forbiddenMillis: number, withoutCustomMillis: number): void;
  /** Ends all troubles, those of streaming lists too. */
  clear(): void;
}

/** The troubles that the server checks before it answers. */
export interface TroubleState {
  takeFailure(request: LoggedRequest): FailedAnswer | undefined;
  shapeOf(request: LoggedRequest): WireShape;
  takeExpiry(): boolean;
  readonly lag: number;
  readonly skewMillis: number;
  readonly tooOldAs: "status" | "event";
  readonly streamingLists: StreamingLists;
  readonly isForbidden: boolean;
  readonly lacksCustomGroups: boolean;
}

/** The support of a server for streaming lists. */
export type StreamingLists = "offered" | 400 | 422 | "event";

interface Limited<Value> {
  readonly value: Value;
  readonly match: RequestMatch;
  times: number;
}

const every: RequestMatch = () => true;

/** Creates troubles with their state; none at first. */
export function createTroubles(): Troubles & TroubleState {
  let failures: Limited<FailedAnswer>[] = [];
  let cuts: Limited<number>[] = [];
  let slow: { readonly bytesPerSecond: number; readonly match: RequestMatch } | undefined;
  let seed: number | undefined;
  let bodies = 0;
  let expiries = 0;
  const state = {
    lag: 0,
    skewMillis: 0,
    tooOldAs: "status" as "status" | "event",
    streamingLists: "offered" as StreamingLists,
    forbiddenUntil: 0,
    withoutCustomUntil: 0,
  };

  function take<Value>(list: Limited<Value>[], request: LoggedRequest): Value | undefined {
    const found = list.find((each) => each.times > 0 && each.match(request));
    if (found === undefined) return undefined;
    found.times -= 1;
    return found.value;
  }

  return {
    fail: (value, times = 1, match = every) => void failures.push({ value, times, match }),
    cutBodies: (value, times = 1, match = every) => void cuts.push({ value, times, match }),
    chunkBodies(given) {
      seed = given;
    },
    slowBodies(bytesPerSecond, match = every) {
      slow = { bytesPerSecond, match };
    },
    expireContinueTokens(times = 1) {
      expiries = times;
    },
    lagLists(versions) {
      state.lag = versions;
    },
    skewClock(millis) {
      state.skewMillis = millis;
    },
    refuseTooOldAs(how) {
      state.tooOldAs = how;
    },
    refuseStreamingLists(how) {
      state.streamingLists = how;
    },
    startUp(forbiddenMillis, withoutCustomMillis) {
      state.forbiddenUntil = performance.now() + forbiddenMillis;
      state.withoutCustomUntil = performance.now() + withoutCustomMillis;
    },
    clear() {
      failures = [];
      cuts = [];
      slow = undefined;
      seed = undefined;
      expiries = 0;
      Object.assign(state, {
        lag: 0,
        skewMillis: 0,
        tooOldAs: "status",
        streamingLists: "offered",
        forbiddenUntil: 0,
        withoutCustomUntil: 0,
      });
    },
    takeFailure: (request) => take(failures, request),
    shapeOf(request) {
      const cutAfterBytes = take(cuts, request);
      return {
        ...(cutAfterBytes === undefined ? {} : { cutAfterBytes }),
        ...(seed === undefined ? {} : { chunkSeed: seed + bodies++ }),
        ...(slow?.match(request) === true ? { bytesPerSecond: slow.bytesPerSecond } : {}),
      };
    },
    takeExpiry() {
      if (expiries === 0) return false;
      expiries -= 1;
      return true;
    },
    get lag() {
      return state.lag;
    },
    get skewMillis() {
      return state.skewMillis;
    },
    get tooOldAs() {
      return state.tooOldAs;
    },
    get isForbidden() {
      return performance.now() < state.forbiddenUntil;
    },
    get lacksCustomGroups() {
      return performance.now() < state.withoutCustomUntil;
    },
    get streamingLists() {
      return state.streamingLists;
    },
  };
}
