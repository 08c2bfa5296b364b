import { describe, expect, it } from "vitest";
import { canMeet, readPattern, type Pattern } from "../../../../domain/owner/pattern.ts";

function patternOf(text: string): Pattern {
  const pattern = readPattern(text);
  if ("allowed" in pattern) throw new Error(pattern.allowed);
  return pattern;
}

describe("two patterns", () => {
  it("overlap if a name matches both globs", () => {
    expect(canMeet(patternOf("vision-*"), patternOf("*-train"))).toBe(true);
    expect(canMeet(patternOf("vision-*"), patternOf("nlp-*"))).toBe(false);
  });

  it("overlap if one is a name that the other matches; two regular expressions overlap only if they are equal", () => {
    expect(canMeet(patternOf("vision"), patternOf("v*"))).toBe(true);
    expect(canMeet(patternOf("v*"), patternOf("nlp"))).toBe(false);
    expect(canMeet(patternOf("/v.*/"), patternOf("/v.*/"))).toBe(true);
    expect(canMeet(patternOf("/v.*/"), patternOf("vision"))).toBe(false);
  });
});
