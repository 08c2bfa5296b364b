import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { storedObject } from "../../../../demo/kubernetes/server/object.ts";
import { parseApiPath } from "../../../../demo/kubernetes/server/path.ts";
import { parseFieldSelector, parseLabelSelector } from "../../../../demo/kubernetes/server/selectors.ts";
import { createStore, rangeOf, type ObjectStore } from "../../../../demo/kubernetes/server/store.ts";
import { rounds } from "../../../support/rounds.ts";

const pod = (namespace: string, name: string, mark = 0, labels: Record<string, string> = {}) =>
  storedObject({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, uid: `${mark}`, labels },
    spec: {},
    status: {},
  });

const stateOf = (store: ObjectStore, version: number): Record<string, string> => {
  const { keys, get } = store.snapshot("pods", version);
  return Object.fromEntries(keys.map((key) => [key, get(key)!.object.metadata().uid]));
};

describe("the store", () => {
  test("returns every state between its oldest version and now", () => {
    const step = fc.record({
      name: fc.constantFrom("a", "b", "c-1", "c0", "d"),
      space: fc.constantFrom("x", "x-y"),
      isDelete: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const store = createStore({ keptEvents: 20 });
        const states = new Map([[store.resourceVersion, stateOf(store, store.resourceVersion)]]);
        steps.forEach(({ name, space, isDelete }, mark) => {
          if (isDelete) store.delete("pods", `${space}/${name}`);
          else store.put("pods", pod(space, name, mark));
          store.put("nodes", pod("", "other", mark));
          states.set(store.resourceVersion, stateOf(store, store.resourceVersion));
        });
        for (const [version, state] of states) {
          if (version < store.compactedVersion) continue;
          expect(stateOf(store, version)).toEqual(state);
          expect(Object.keys(stateOf(store, version))).toEqual(Object.keys(state).toSorted());
        }
      }),
      { numRuns: rounds(200) },
    );
  });

  test("forgets the oldest changes, and reports the oldest version it has", () => {
    const store = createStore({ keptEvents: 8, firstVersion: 100 });
    for (let i = 0; i < 30; i++) store.put("pods", pod("x", `p${i}`));
    expect(store.compactedVersion).toBeGreaterThan(110);
    expect(store.eventsSince("pods", store.compactedVersion)[0]!.resourceVersion).toBe(store.compactedVersion + 1);
    store.compact();
    expect(store.compactedVersion).toBe(store.resourceVersion);
  });

  test("keeps the keys of a namespace together, and separate from names with the same beginning", () => {
    const store = createStore();
    for (const space of ["b", "a-b", "a", "a0"]) for (const name of ["2", "1"]) store.put("pods", pod(space, name));
    const { keys } = store.snapshot("pods", store.resourceVersion);
    expect(keys.slice(...rangeOf(keys, "a"))).toEqual(["a/1", "a/2"]);
    expect(keys.slice(...rangeOf(keys, ""))).toHaveLength(8);
  });
});

describe("selectors", () => {
  const object = pod("x", "p", 0, { app: "web", tier: "front" });
  const matches = (text: string): boolean => parseLabelSelector(text)(object);

  test("read equality, sets and existence; a missing label is unequal and in no set", () => {
    const yes = [
      "app=web",
      "app==web,tier=front",
      "app!=db",
      "other!=x",
      "app in (db, web)",
      "app notin (db)",
      "other notin (x)",
      "app",
      "!other",
      "",
    ];
    const no = [
      "app=db",
      "app=web,tier=back",
      "app!=web",
      "app in (db)",
      "other in (x)",
      "app notin (web,db)",
      "other",
      "!app",
    ];
    expect(yes.filter((text) => !matches(text))).toEqual([]);
    expect(no.filter((text) => matches(text))).toEqual([]);
  });

  test("refuse invalid text, and fields that a resource does not have", () => {
    expect(() => parseLabelSelector("app in web")).toThrow(/unable to parse/);
    const known = new Set(["metadata.name"]);
    expect(() => parseFieldSelector("spec.nodeName=n", known)).toThrow("field label not supported: spec.nodeName");
    expect(parseFieldSelector("metadata.name=p", known)(object)).toBe(true);
    expect(parseFieldSelector("metadata.name!=p", known)(object)).toBe(false);
  });
});

test("paths name collections and objects, in a namespace or not", () => {
  const rest = { version: "v1", resource: "pods" };
  expect(parseApiPath("/api/v1/pods")).toEqual({ ...rest, group: "", namespace: "", name: "" });
  expect(parseApiPath("/api/v1/namespaces/x/pods/p")).toEqual({ ...rest, group: "", namespace: "x", name: "p" });
  expect(parseApiPath("/api/v1/namespaces/x")).toEqual({
    ...rest,
    group: "",
    resource: "namespaces",
    namespace: "",
    name: "x",
  });
  expect(parseApiPath("/apis/batch/v1/jobs")).toEqual({
    group: "batch",
    version: "v1",
    resource: "jobs",
    namespace: "",
    name: "",
  });
  for (const path of ["/", "/api", "/apis/batch/v1", "/healthz", "/api/v1/namespaces/x/pods/p/log"]) {
    expect(parseApiPath(path)).toBeUndefined();
  }
});
