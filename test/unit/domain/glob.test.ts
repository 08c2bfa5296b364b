import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { commonName, fitsGlob } from "../../../domain/glob.ts";

describe("a name that matches two globs", () => {
  it.each([
    ["a*", "*b", "a~b"],
    ["a*c", "?b?", "abc"],
    ["a*", "b*", undefined],
    ["a?", "a", undefined],
    ["*", "?", "~"],
    ["**", "", ""],
    ["ab*", "a*c?", "ab~c~"],
    ["a*b", "a*c", undefined],
    ["NVIDIA-A100*", "*", "NVIDIA-A100~"],
    ["name", "name", "name"],
  ])("of %s and %s is %s", (one, other, expected) => {
    expect(commonName(one, other)).toBe(expected);
  });

  it("exists exactly if one of all short names matches both, and itself matches both", () => {
    const glob = fc.string({ unit: fc.constantFrom("a", "b", "*", "?"), maxLength: 4 });
    const names = extended("", 7);
    fc.assert(
      fc.property(glob, glob, (one, other) => {
        const name = commonName(one, other);
        expect(name !== undefined).toBe(names.some((each) => fitsGlob(one, each) && fitsGlob(other, each)));
        expect(name === undefined || (fitsGlob(one, name) && fitsGlob(other, name))).toBe(true);
      }),
    );
  });
});

/** All texts of `a` and `b` with this beginning, up to a length. */
function extended(begin: string, most: number): readonly string[] {
  return begin.length === most ? [begin] : [begin, ...["a", "b"].flatMap((next) => extended(begin + next, most))];
}
