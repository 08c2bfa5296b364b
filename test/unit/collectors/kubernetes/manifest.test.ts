import { describe, expect, it } from "vitest";
import { readManifest } from "../../../../collectors/kubernetes/manifest.ts";

const DEEP = 60_000;

describe("a text with Kubernetes objects", () => {
  it.each([
    ["brackets in YAML", `a: ${"[".repeat(DEEP)}`],
    ["lists in YAML", `${"- ".repeat(DEEP)}x`],
    ["lists in JSON", `${"[".repeat(DEEP)}${"]".repeat(DEEP)}`],
    ["Lists in JSON", `${'{"items":['.repeat(DEEP)}${"]}".repeat(DEEP)}`],
  ])("is ignored if it is too deep: %s", (_, text) => {
    const { objects, ignored } = readManifest(text);
    expect(objects).toEqual([]);
    expect(ignored.map(({ why }) => why)).toEqual(["not at most 100 lists and mappings within each other"]);
  });

  it("is read from a list of Lists", () => {
    const pod = { kind: "Pod", metadata: { name: "a" } };
    expect(readManifest(JSON.stringify([{ kind: "List", items: [pod] }])).objects).toEqual([pod]);
  });
});
