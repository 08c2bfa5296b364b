import type { Fleet } from "../../fleet/fleet.ts";
import { hash, hashText, suffixOf, uuidOf } from "../../fleet/hash.ts";
import type { FleetNode } from "../../fleet/node.ts";
import { TEAMS } from "../../fleet/teams.ts";
import { tenancyAt } from "../../fleet/tenancy.ts";
import { DAY, HOUR, MINUTE } from "./times.ts";
import type { WaitingGang, WaitingPod } from "./waiting-objects.ts";

/** The pods that wait in a cluster at a time, beside the fleet's own. None of them holds a GPU in an exporter's page. */
export interface Waiting {
  readonly gangs: readonly WaitingGang[];
  readonly pods: readonly WaitingPod[];
}

/** Returns gangs that do not fit, and pods that fit no node, each with its reason. */
export function waitingAt(fleet: Fleet, timeMillis: number): Waiting {
  return {
    gangs: [...hugeGangs(fleet, timeMillis), ...halfBoundGangs(fleet, timeMillis)],
    pods: misfits(fleet, timeMillis),
  };
}

/** Returns a gang that waits every day from 05:00 to 23:00 because it needs more whole nodes than there are. */
function hugeGangs({ seed, nodes }: Fleet, timeMillis: number): WaitingGang[] {
  const day = Math.floor(timeMillis / DAY);
  const fromMillis = day * DAY + 5 * HOUR;
  if (timeMillis < fromMillis || timeMillis >= day * DAY + 23 * HOUR) return [];
  const size = nodes.filter(({ model }) => model.name.includes("H100")).length + 2;
  const key = hash(hashText(seed, "huge gang"), day);
  const member = { node: undefined, gpus: 8, instanceType: "p5.48xlarge" };
  return [
    gang(
      key,
      "world-model",
      "robotics",
      fromMillis,
      Array.from({ length: size }, () => member),
    ),
  ];
}

/**
 * Returns gangs of three of which one fits, for each free GPU of a node whose exporter has no pod labels. The first pod is bound and holds
 * that GPU, idle, while the fleet leaves it free.
 */
function halfBoundGangs({ seed, nodes }: Fleet, timeMillis: number): WaitingGang[] {
  return nodes
    .filter(({ make }) => make.exporter === "nvidia_gpu_exporter")
    .flatMap((node) => {
      const slot = node.gpus[0]!.slots[0]!;
      const { pod, fromMillis, untilMillis } = tenancyAt(slot, timeMillis);
      const [begins, ends] = [fromMillis + MINUTE, untilMillis - 2 * MINUTE];
      if (pod !== undefined || timeMillis < begins || timeMillis >= ends) return [];
      const key = hash(hashText(seed, `half gang/${node.name}`), Math.floor(fromMillis / MINUTE));
      const wants = { gpus: 1, instanceType: node.instanceType };
      const member = (at: FleetNode | undefined): WaitingGang["members"][number] => ({ node: at, ...wants });
      return [gang(key, "tts-flow", "speech", begins, [member(node), member(undefined), member(undefined)])];
    });
}

function gang(
  key: number,
  title: string,
  team: string,
  createdMillis: number,
  members: WaitingGang["members"],
): WaitingGang {
  const name = `${title}-${suffixOf(key, 5)}`;
  return { key, name, namespace: `${team}-train`, team, uid: uuidOf(key), createdMillis, members };
}

/** Returns one pod for each reason why a pod fits no node; a new one each day at 03:00. */
function misfits({ seed }: Fleet, timeMillis: number): WaitingPod[] {
  const day = Math.floor((timeMillis - 3 * HOUR) / DAY);
  const createdMillis = day * DAY + 3 * HOUR;
  const [vision, nlp, speech] = TEAMS;
  const pod = (title: string, given: Omit<WaitingPod, "name" | "uid" | "createdMillis">): WaitingPod => {
    const key = hash(hashText(seed, `misfit/${title}`), day);
    return { ...given, name: `${title}-${suffixOf(key, 5)}-0`, uid: uuidOf(key), createdMillis };
  };
  return [
    pod("jupyter-ada-h200", {
      namespace: vision!.namespaces.notebook,
      limits: { "nvidia.com/gpu": "1" },
      nodeSelector: { "nvidia.com/gpu.product": "NVIDIA-H200" },
      reason: "node(s) didn't match Pod's node affinity/selector",
    }),
    pod("rerank-slice", {
      namespace: nlp!.namespaces.inference,
      scheduler: "hami-scheduler",
      limits: { "nvidia.com/gpu": "1", "nvidia.com/gpumem": "8000", "nvidia.com/gpucores": "30" },
      annotations: { "hami.io/vgpu-devices-to-allocate": ";", "nvidia.com/use-gputype": "L40S" },
      reason: "node unregistered",
    }),
    pod("voice-half", {
      namespace: speech!.namespaces.inference,
      scheduler: "kai-scheduler",
      limits: {},
      labels: { "kai.scheduler/queue": "speech" },
      annotations: { "gpu-fraction": "0.5" },
      reason: "node(s) didn't have enough resources: GPUs",
    }),
  ];
}
