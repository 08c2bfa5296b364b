import { describe, expect, it } from "vitest";
import { alertmanagerParts } from "../../../alerts/alertmanager/configuration.ts";
import { DEFAULT_ALERT_OPTIONS } from "../../../alerts/options.ts";
import { notificationsOf } from "../../support/week/notifications.ts";
import type { Firing } from "../../support/week/replay.ts";

const PARTS = alertmanagerParts(DEFAULT_ALERT_OPTIONS, {
  platform: {},
  teams: {},
  repeat: { page: "4h", ticket: "24h" },
});
const HOUR = 60;
const TICKET = { severity: "warning", notify: "ticket" };

/** An alert that fires from a minute until another. */
function firing(alert: string, from: number, to: number, labels: Readonly<Record<string, string>>): Firing {
  return { alert, labels: { ...TICKET, ...labels }, from, to };
}

/** The notifications as text: the second, and the alerts that are new in it. */
function sent(...firings: readonly Firing[]): readonly string[] {
  return notificationsOf(firings, PARTS, 60).map(
    ({ atSecond, gained }) =>
      `${atSecond}: ${gained.map(({ alert, labels }) => `${alert} ${labels["UUID"] ?? labels["pod"]}`).join(", ")}`,
  );
}

const links = (gpu: string, from: number, to: number): Firing =>
  firing("GPUNVLinkErrors", from, to, { gpu_topic: "links", node: "node-1", UUID: gpu });
const idle = (pod: string, from: number, to: number, more: Readonly<Record<string, string>> = {}): Firing =>
  firing("GPUAllocatedIdle", from, to, { gpu_topic: "waste", namespace: "ml", team: "nlp", pod, ...more });

describe("notifications of the shipped routes", () => {
  it("are sent 30 s after a group's first alert, and at 5 minutes for alerts that come later", () => {
    expect(sent(links("a", 10, 60), links("b", 12, 60), links("c", 40, 60))).toEqual([
      "630: GPUNVLinkErrors a",
      "930: GPUNVLinkErrors b",
      "2430: GPUNVLinkErrors c",
    ]);
  });

  it("are not sent for an alert that ends before its group is looked at, and again for one that comes back after its end was sent", () => {
    expect(sent(links("a", 10, 60), links("b", 11, 13))).toEqual(["630: GPUNVLinkErrors a"]);
    expect(sent(links("a", 10, 60), links("a", 90, 95))).toEqual(["630: GPUNVLinkErrors a", "5430: GPUNVLinkErrors a"]);
  });

  it("have all waste of a team once a day, by any alert, and that of another team by itself", () => {
    const others = firing("GPUPodPartiallyIdle", 20 * HOUR, 40 * HOUR, {
      gpu_topic: "waste",
      namespace: "ml",
      team: "nlp",
      pod: "c",
    });
    expect(
      sent(idle("a", 0, 40 * HOUR), idle("b", HOUR, 40 * HOUR), others, idle("d", 0, HOUR, { team: "vision" })),
    ).toEqual([
      "600: GPUAllocatedIdle a",
      "600: GPUAllocatedIdle d",
      "87000: GPUAllocatedIdle b, GPUPodPartiallyIdle c",
    ]);
  });

  it("leave out an alert that another one suppresses", () => {
    const partly = firing("GPUPodPartiallyIdle", 0, 60, { gpu_topic: "waste", namespace: "ml", team: "nlp", pod: "a" });
    expect(sent(idle("a", 0, 60), partly)).toEqual(["600: GPUAllocatedIdle a"]);
  });
});
