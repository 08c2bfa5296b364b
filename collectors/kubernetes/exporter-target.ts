import type { RefusedPod, Target } from "../exporters/targets/target.ts";
import { annotatedPort, portsOfContainers, targetsOfPod, type AskedPage, type PagePod } from "./pod-target.ts";

/**
 * Returns the target of an exporter's pod, by the annotations from Prometheus' examples or else by its container's port. Returns a refusal or
 * `undefined` as {@link targetsOfPod}.
 */
export function targetOf(pod: PagePod, asked: AskedPage): Target | RefusedPod | undefined {
  const targets = targetsOfPod(pod, asked, portsOf);
  return targets === undefined || "reason" in targets ? targets : targets[0];
}

function portsOf(pod: PagePod, port: number): readonly string[] {
  const ports = portsOfContainers(pod).flat();
  const ofContainer = ports.find((each) => each.name === "metrics") ?? ports[0];
  return [annotatedPort(pod) ?? String(ofContainer?.containerPort ?? port)];
}
