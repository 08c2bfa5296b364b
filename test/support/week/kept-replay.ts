import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { expect } from "vitest";
import { ruleFile } from "../../../alerts/render/rule-file.ts";
import { replay, type Firing } from "./replay.ts";

/** The result of a replay, in a file of the repository. */
interface Kept {
  /** The digest of the rules and the samples of the replay. */
  readonly digest: string;
  readonly firings: readonly Firing[];
}

/** The first part of the time, which every run plays. */
const PLAYED_EVERY_TIME = 1 / 8;

/**
 * A {@link replay} that keeps its result in a file. It plays the whole time only if rules or samples have changed since, or if `isAnew`; then it
 * writes the file. Otherwise it plays the first eighth and compares it with the stored result: an alert depends on earlier samples only, so the
 * beginnings must be equal.
 */
export function keptReplay(file: string, { isAnew }: { readonly isAnew: boolean }): typeof replay {
  return async (groups, inputs, { steps, stepSeconds }) => {
    const digest = createHash("sha256")
      .update(`${steps} ${stepSeconds}\n${ruleFile(groups)}\n${JSON.stringify(inputs)}`)
      .digest("hex");
    const kept = existsSync(file) && !isAnew ? (JSON.parse(readFileSync(file, "utf8")) as Kept) : undefined;
    if (kept?.digest !== digest) {
      const firings = await replay(groups, inputs, { steps, stepSeconds });
      if (isAnew) writeFileSync(file, `${JSON.stringify({ digest, firings }, null, 2)}\n`);
      return firings;
    }
    const playedSteps = Math.ceil(steps * PLAYED_EVERY_TIME);
    const played = await replay(groups, inputs, { steps: playedSteps, stepSeconds });
    expect(inOrder(played)).toEqual(inOrder(until(playedSteps, kept.firings)));
    return kept.firings;
  };
}

function until(steps: number, firings: readonly Firing[]): readonly Firing[] {
  return firings.filter(({ from }) => from < steps).map((each) => ({ ...each, to: Math.min(each.to, steps - 1) }));
}

function inOrder(firings: readonly Firing[]): readonly string[] {
  return firings.map((each) => JSON.stringify(each)).toSorted();
}
