import type { SliceDevice } from "../../domain/cluster-fact.ts";
import type { DeviceClaim } from "../../domain/device.ts";
import type { Scenario } from "../files.ts";
import { claimNameOf, devicesOf, type NamedDevice } from "./asks.ts";
import type { ClusterMoment } from "./cluster-facts.ts";
import { gpuUuid, instanceUuid, pciBusId, uuidOf } from "./identity.ts";
import { layoutChangesOf, gpuIndexes, layoutAt, migAt } from "./machine.ts";
import { isWithin, lifeOf, podUid, tenureOf, type ScenarioNode, type ScenarioPod } from "./tenure.ts";

const DRIVER = "gpu.nvidia.com";

/** Returns the claims of a scenario's pods: allocated when the first of their pods is bound, gone when the last is finished. */
export function claimMoments(scenario: Scenario): readonly ClusterMoment[] {
  return claimsOf(scenario).flatMap(({ name, devices, pods, reservedFor }): readonly ClusterMoment[] => {
    const tenures = pods.flatMap((pod) => tenureOf(pod, scenario) ?? []);
    const [first] = pods;
    const node = scenario.nodes.find((each) => each.name === first?.node);
    if (first === undefined || node === undefined || tenures.length === 0) return [];
    const from = Math.min(...tenures.map((tenure) => tenure.from));
    const until = Math.max(...tenures.map((tenure) => tenure.until));
    const fact = {
      kind: "ResourceClaim",
      resource: "resourceclaims.resource.k8s.io",
      namespace: first.namespace,
      name,
      uid: uuidOf("claim", node.cluster, first.namespace, name, from),
      body: {
        devices: devices.map((device) => ({ driver: DRIVER, pool: node.name, device: deviceName(device) })),
        reservedFor,
        allocated: from,
      },
    } as const;
    const moment = { atMillis: from, cluster: node.cluster, fact };
    if (until === Infinity) return [moment];
    return [moment, { ...moment, atMillis: until, fact: { ...fact, end: { atMillis: until, inferred: false } } }];
  });
}

/** Returns the slices of the nodes with a claim's devices: at the beginning, at each change of layout, and at the end. */
export function sliceMoments(scenario: Scenario): readonly ClusterMoment[] {
  const named = new Set(claimsOf(scenario).flatMap(({ pods }) => pods.map(({ node }) => node)));
  return scenario.nodes
    .filter(({ name }) => named.has(name))
    .flatMap((node) => {
      const life = lifeOf(node, scenario);
      const times = new Set([life.from, ...layoutChangesOf(node).filter((at) => isWithin(life, at))]);
      const moments = [...times].map((at) => sliceAt(node, at, at));
      if (node.until === undefined) return moments;
      const last = sliceAt(node, node.until, node.until - 1);
      return [...moments, { ...last, fact: { ...last.fact, end: { atMillis: node.until, inferred: false } } }];
    });
}

/**
 * Returns dcgm-exporter's labels of the claim by which a pod has a device of its node (`--kubernetes-enable-dra`); undefined for a pod
 * without a claim.
 */
export function claimLabelsOf(
  scenario: Scenario,
  node: ScenarioNode,
  pod: ScenarioPod,
  device: NamedDevice,
  at: number,
): DeviceClaim | undefined {
  const name = claimNameOf(pod);
  if (name === undefined) return undefined;
  const [first = pod] = "dra" in pod.holds ? podsOf(scenario, name) : [pod];
  const labels = { name, namespace: first.namespace, driver: DRIVER, pool: node.name, device: deviceName(device) };
  const sliced = sliceDevicesAt(node, at).find((each) => each.name === labels.device);
  if (sliced?.profile === undefined || sliced.uuid === undefined) return labels;
  return { ...labels, migProfile: sliced.profile, migUuid: sliced.uuid };
}

/** A claim with the pods for which it is reserved. For a name that no pod has, the UID is one of an unknown pod. */
interface PlayedClaim {
  readonly name: string;
  readonly devices: readonly NamedDevice[];
  readonly pods: readonly ScenarioPod[];
  readonly reservedFor: readonly string[];
}

function claimsOf(scenario: Scenario): readonly PlayedClaim[] {
  const shared = Object.entries(scenario.claims).map(([name, { devices, reservedFor }]): PlayedClaim => {
    const pods = podsOf(scenario, name);
    const uids = reservedFor.map((reserved) => {
      const pod = pods.find((each) => each.name === reserved);
      return pod === undefined ? uuidOf("pod", name, reserved) : podUid(pod, scenario);
    });
    return { name, devices: devicesOf({ devices }), pods, reservedFor: uids };
  });
  const own = scenario.pods.flatMap((pod): readonly PlayedClaim[] => {
    const name = claimNameOf(pod);
    if (name === undefined || "dra" in pod.holds) return [];
    return [{ name, devices: devicesOf(pod), pods: [pod], reservedFor: [podUid(pod, scenario)] }];
  });
  return [...shared, ...own];
}

function podsOf({ pods }: Scenario, claim: string): readonly ScenarioPod[] {
  return pods.filter(({ holds }) => "dra" in holds && holds.dra.claim === claim);
}

function deviceName({ gpu, instance }: NamedDevice): string {
  return instance === undefined ? `gpu-${gpu}` : `gpu-${gpu}-mig-${instance}`;
}

function sliceDevicesAt(node: ScenarioNode, stateAt: number): readonly SliceDevice[] {
  return gpuIndexes(node).flatMap((gpu): readonly SliceDevice[] => {
    const layout = layoutAt(node, gpu, stateAt);
    const uuid = gpuUuid(node, gpu);
    if (layout.kind !== "mig") return [{ name: deviceName({ gpu }), uuid, pciBusId: pciBusId(gpu), model: node.model }];
    const sinceMillis = migAt(node, stateAt)?.from ?? 0;
    return layout.instances.map(({ id: instance, profile = "" }) => ({
      name: deviceName({ gpu, instance }),
      uuid: instanceUuid(node, { gpu, instance, profile, sinceMillis }),
      pciBusId: pciBusId(gpu),
      model: node.model,
      parentUuid: uuid,
      profile,
    }));
  });
}

function sliceAt(node: ScenarioNode, atMillis: number, stateAt: number): ClusterMoment {
  return {
    atMillis,
    cluster: node.cluster,
    fact: {
      kind: "ResourceSlice",
      resource: "resourceslices.resource.k8s.io",
      namespace: "",
      name: `${node.name}-${DRIVER}`,
      uid: uuidOf("slice", node.cluster, node.name),
      body: { driver: DRIVER, pool: node.name, node: node.name, devices: sliceDevicesAt(node, stateAt) },
    },
  };
}
