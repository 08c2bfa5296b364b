import type { FileProblem } from "../../runtime/config/file-problem.ts";
import type { Scenario } from "../files.ts";
import { claimNameOf, devicesOf } from "./asks.ts";
import { gangsOf } from "./cluster-facts.ts";
import { gpuIndexes, layoutAt } from "./machine.ts";
import { lifeOf } from "./tenure.ts";

/**
 * Returns the parts of a scenario that no collector could report, so that the messages would differ from the text. None if the whole scenario
 * can be played.
 */
export function unplayable(scenario: Scenario): readonly FileProblem[] {
  return [...troublesOfNodes(scenario), ...troublesOfPods(scenario), ...troublesOfGangs(scenario)];
}

/** Kubernetes cordons nodes and reports nodes as ready or not, but not single GPUs. */
function troublesOfNodes({ nodes }: Scenario): readonly FileProblem[] {
  return nodes.flatMap((node, index) =>
    node.unavailable.flatMap(({ gpus, because }, spanIndex) => {
      const isOfNode = because === "cordoned" || because === "not-ready";
      if (!isOfNode || gpus === undefined || gpuIndexes(node).every((gpu) => gpus.includes(gpu))) return [];
      const key = `nodes[${index}].unavailable[${spanIndex}].gpus`;
      return [{ key, value: gpus, allowed: `no value: a node is ${because} with all its GPUs` }];
    }),
  );
}

function troublesOfPods(scenario: Scenario): readonly FileProblem[] {
  const { nodes, pods } = scenario;
  return pods.flatMap((pod, index): readonly FileProblem[] => {
    const devices = devicesOf(pod);
    const problems: FileProblem[] = [];
    if (pod.hpcJob === undefined && pods.some(({ node, hpcJob }) => node === pod.node && hpcJob !== undefined)) {
      const allowed = "given for all pods of a node, or for none: with Kubernetes, Kubernetes identifies the pods";
      problems.push({ key: `pods[${index}].hpcJob`, allowed });
    }
    if ("replicas" in pod.holds && devices.length > 0 && pod.holds.replicas % devices.length !== 0) {
      const allowed = `a multiple of the ${devices.length} devices: the exporter names a pod once for each replica`;
      problems.push({ key: `pods[${index}].holds.replicas`, value: pod.holds.replicas, allowed });
    }
    if (pod.processActivity && devices.length === 0 && !("dra" in pod.holds)) {
      const allowed = "given, because with processActivity the exporter names the pods on their devices";
      problems.push({ key: `pods[${index}].devices`, allowed });
    }
    const node = nodes.find(({ name }) => name === pod.node);
    const isShared = node !== undefined && node.sharing.strategy !== "none";
    if (isShared && "gpus" in pod.holds && claimNameOf(pod) === undefined) {
      const allowed = "{ replicas }: its node shares its GPUs, so a request for a GPU gets a replica";
      problems.push({ key: `pods[${index}].holds`, value: pod.holds, allowed });
    }
    if (!isShared && "replicas" in pod.holds && pod.holds.replicas > Math.max(1, devices.length)) {
      const allowed = "on a node that shares its GPUs: on other nodes a request for a GPU gets the whole GPU";
      problems.push({ key: `pods[${index}].holds.replicas`, value: pod.holds.replicas, allowed });
    }
    devices.forEach(({ gpu, instance }, deviceIndex) => {
      if (node === undefined || instance !== undefined) return;
      if (layoutAt(node, gpu, lifeOf(node, scenario).from).kind !== "partitions") return;
      const allowed = "{ gpu, instance }: the GPU has partitions, and the exporter reports each one";
      problems.push({ key: `pods[${index}].devices[${deviceIndex}]`, value: gpu, allowed });
    });
    return problems;
  });
}

/** A PodGroup is an object of one namespace. */
function troublesOfGangs(scenario: Scenario): readonly FileProblem[] {
  const gangs = gangsOf(scenario).map(([first]) => first!);
  return gangs.flatMap((pod, index) => {
    const isSplit = gangs.slice(0, index).some((other) => other.gang!.group === pod.gang!.group);
    if (!isSplit) return [];
    const allowed = "a group whose pods are in one namespace of one cluster, as a PodGroup is";
    return [{ key: `pods[${scenario.pods.indexOf(pod)}].gang.group`, value: pod.gang!.group, allowed }];
  });
}
