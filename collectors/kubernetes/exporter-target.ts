import type { RefusedPod, Target } from "../exporters/targets/target.ts";
import { annotatedPage, portsOf, targetsOfPod, type AskedPage, type PagePod } from "./pod-target.ts";

/**
 * Returns the target of an exporter's pod, by the annotations from Prometheus' examples or else by its container's port. Returns a refusal or
 * `undefined` as {@link targetsOfPod}.
 */
export function targetOf(pod: PagePod, asked: AskedPage): Target | RefusedPod | undefined {
  const targets = targetsOfPod(pod, asked, choose);
  return targets === undefined || "reason" in targets ? targets : targets[0];
}

function choose(pod: PagePod, port: number): readonly string[] {
  const ports = portsOf(pod.spec?.containers ?? []);
  const ofContainer = ports.find((each) => each.name === "metrics") ?? ports[0];
  return [annotatedPage(pod).port ?? String(ofContainer?.containerPort ?? port)];
}
