import { describe, expect, test } from "vitest";
import { createFleet } from "../../../../demo/fleet/fleet.ts";
import { createClusterDriver } from "../../../../demo/kubernetes/cluster/driver.ts";
import { objectsAt } from "../../../../demo/kubernetes/cluster/objects.ts";
import type { KubernetesObject } from "../../../../demo/kubernetes/server/object.ts";
import type { ObjectName } from "../../../../demo/kubernetes/server/server.ts";
import { rounds } from "../../../support/rounds.ts";
import { HOUR_MILLIS as HOUR } from "../../../../domain/time.ts";

const FROM = Date.UTC(2026, 6, 8);
/** Shortly before the end of a job and the start of another pod. */
const BUSY = FROM + 8_640_000;
const STEPS = rounds(900, 100);
const fleet = createFleet({ seed: 4, gpus: 96 });

/** A server that keeps objects, refuses impossible changes as an API server does, and records the stages of each pod. */
function recorder() {
  const objects = new Map<string, KubernetesObject>();
  const stages = new Map<string, string[]>();
  const nameOf = ({ apiVersion, kind, metadata }: ObjectName): string =>
    `${apiVersion} ${kind} ${metadata.namespace ?? ""}/${metadata.name}`;
  return {
    objects,
    stages,
    put(object: KubernetesObject): string {
      const former = objects.get(nameOf(object));
      if (former !== undefined && former.metadata.uid !== object.metadata.uid) throw new Error("a UID has changed");
      objects.set(nameOf(object), object);
      if (object.kind === "Pod") {
        const { phase } = object["status"] as { readonly phase: string };
        const bound = (object["spec"] as { readonly nodeName?: string }).nodeName === undefined ? "" : " bound";
        const list = stages.get(object.metadata.uid) ?? [];
        if (list.at(-1) !== `${phase}${bound}`) list.push(`${phase}${bound}`);
        stages.set(object.metadata.uid, list);
      }
      return "1";
    },
    delete: (object: ObjectName): boolean => objects.delete(nameOf(object)),
  };
}

describe("the driver", () => {
  test("leaves the server with the objects of the time, independent of the steps to it", () => {
    const [slow, fast] = [recorder(), recorder()];
    const [steps, leap] = [slow, fast].map((server) => createClusterDriver(fleet, server, () => 0));
    for (let at = FROM; at <= FROM + 6 * HOUR; at += 900_000) steps!.moveTo(at);
    leap!.moveTo(FROM);
    leap!.moveTo(FROM + 6 * HOUR);
    const expected = new Map(objectsAt(fleet, FROM + 6 * HOUR).map((object) => [object.metadata.uid, object]));
    for (const { objects } of [slow, fast]) {
      expect(new Map([...objects.values()].map((object) => [object.metadata.uid, object]))).toEqual(expected);
    }
  });

  test("moves pods through their stages in order, and never changes the UID of a name in place", () => {
    const server = recorder();
    const driver = createClusterDriver(fleet, server, () => 0);
    for (let at = BUSY; at <= BUSY + STEPS * 8_000; at += 8_000) driver.moveTo(at);
    const order = ["Pending", "Pending bound", "Running bound", "Succeeded bound", "Failed bound"];
    const ways = [...server.stages.values()];
    for (const way of ways) {
      const places = way.map((stage) => order.indexOf(stage));
      expect(places).toEqual(places.toSorted((a, b) => a - b));
    }
    const texts = ways.map((way) => way.join(" > "));
    expect(texts).toContain("Pending > Pending bound > Running bound");
    expect(texts).toContain("Running bound > Succeeded bound");
  });

  test("sends nothing if nothing has changed, and does not go back", () => {
    const driver = createClusterDriver(fleet, recorder(), () => 0);
    expect(driver.moveTo(FROM)).toBeGreaterThan(100);
    expect(driver.moveTo(FROM)).toBe(0);
    expect(() => driver.moveTo(FROM - 1)).toThrow(RangeError);
  });
});
