import type { Device, DeviceClaim } from "../../domain/device.ts";
import type { Scenario } from "../files.ts";
import { claimLabelsOf } from "./dra-facts.ts";
import { gpuUuid, pciBusId } from "./identity.ts";
import { gpuIndexes, layoutAt } from "./machine.ts";
import { occupantsAt, type Occupant } from "./occupants.ts";
import type { Reservation } from "./reservations.ts";
import type { Residents } from "./residents.ts";
import { isWithin, podUid, type ScenarioNode, type ScenarioPod } from "./tenure.ts";

/** A row of a scrape: its device, and the sources of its values. */
export interface PlayedRow {
  readonly device: Device;
  readonly gpu: number;
  /** The MIG profile of the row's instance; empty if the row is not an instance. */
  readonly profile: string;
  /** True for a GPU in MIG mode, with or without instances. The GPU itself has no activity then. */
  readonly isBlind: boolean;
  /** The occupants of the row's device. */
  readonly occupants: readonly Occupant[];
  /** The pod of the processes, if the exporter has values by process. */
  readonly processesOf: Occupant | undefined;
}

/** The sources of a node's rows. */
export interface RowSources {
  readonly scenario: Scenario;
  readonly node: ScenarioNode;
  readonly residents: Residents;
  readonly reservations: readonly Reservation[];
}

/**
 * Returns the rows of a node's scrape at a time, as a reader of dcgm-exporter gives them: for each GPU that is not in a gap one row of itself,
 * or of each of its instances or partitions; for a device that several pods share, one for each pod and replica that the
 * exporter names.
 */
export function rowsAt(sources: RowSources, at: number): readonly PlayedRow[] {
  const { scenario, node, residents } = sources;
  const occupants = occupantsAt(scenario, node, residents.at(at), at);
  const missing = node.telemetryGaps.filter((gap) => isWithin(gap, at));
  return gpuIndexes(node)
    .filter((index) => !missing.some(({ gpus }) => (gpus ?? [index]).includes(index)))
    .flatMap((index) => rowsOfGpu(sources, index, occupants, at));
}

function rowsOfGpu(sources: RowSources, gpu: number, occupants: readonly Occupant[], at: number): readonly PlayedRow[] {
  const { node } = sources;
  const layout = layoutAt(node, gpu, at);
  const own = {
    gpu: String(gpu),
    uuid: gpuUuid(node, gpu),
    pciBusId: pciBusId(gpu),
    model: node.model,
    hostname: node.name,
  };
  const parts: readonly { readonly part: string; readonly profile: string; readonly device: Device }[] =
    layout.kind === "mig" && layout.instances.length > 0
      ? layout.instances.map(({ id, profile = "" }) => ({
          part: id,
          profile,
          device: { ...own, instance: id, profile },
        }))
      : layout.kind === "partitions"
        ? Array.from({ length: layout.count }, (_, id) => ({
            part: String(id),
            profile: "",
            device: { ...own, partition: String(id) },
          }))
        : [{ part: "", profile: "", device: own }];
  return parts.flatMap(({ part, profile, device }, index) => {
    const here = occupants.filter((each) => each.gpu === gpu && each.part === part);
    const named = namesOn(sources, gpu, here, at);
    const rows = named.length === 0 ? [{ labels: {}, processesOf: undefined }] : named;
    return rows.map(({ labels, processesOf }, row) => ({
      device: {
        ...device,
        ...labels,
        ...(index + row > 0 ? { repeatsGpu: true as const } : {}),
        ...(row > 0 ? { repeatsDevice: true as const } : {}),
      },
      gpu,
      profile,
      isBlind: layout.kind === "mig" && layout.instances.length === 0,
      occupants: here,
      processesOf,
    }));
  });
}

interface Named {
  readonly labels: Partial<Device>;
  readonly processesOf: Occupant | undefined;
}

/** Returns the pods that the exporter names on a device, with a row for each. With several replicas of a pod, the first row has the processes. */
function namesOn(
  { scenario, residents, reservations, node }: RowSources,
  gpu: number,
  here: readonly Occupant[],
  at: number,
): readonly Named[] {
  const pods = here.flatMap((occupant): readonly Named[] => {
    const { pod } = occupant;
    if (pod.hpcJob !== undefined) return [{ labels: { hpcJob: pod.hpcJob }, processesOf: processesOf(occupant) }];
    const { part: instance } = occupant;
    const device = instance === "" ? { gpu } : { gpu, instance };
    const claim = claimLabelsOf(scenario, node, pod, device, at);
    if (occupant.isCommon || !isNamed(pod, claim)) return [];
    const labels = {
      namespace: pod.namespace,
      pod: pod.name,
      podUid: podUid(pod, scenario),
      container: "main",
      ...(claim === undefined ? {} : { claim }),
    };
    const replicas = residents.replicas(pod, gpu);
    if (replicas.length === 0) return [{ labels, processesOf: processesOf(occupant) }];
    return replicas.map((replica, index) => ({
      labels: { ...labels, vgpu: String(replica) },
      processesOf: index === 0 ? processesOf(occupant) : undefined,
    }));
  });
  const reserving = reservations
    .filter((reservation) => reservation.node === node && reservation.gpu === gpu && isWithin(reservation, at))
    .map(({ namespace, name, uid }): Named => ({
      labels: { namespace, pod: name, podUid: uid, container: "main" },
      processesOf: undefined,
    }));
  return [...reserving, ...pods];
}

/** Returns true if the exporter names a pod: the kubelet allocated its device, by a claim or not, or the exporter has values by process. */
function isNamed({ evidence, group, processActivity }: ScenarioPod, claim: DeviceClaim | undefined): boolean {
  return claim !== undefined || processActivity || (evidence === "label" && group === undefined);
}

function processesOf(occupant: Occupant): Occupant | undefined {
  return occupant.pod.processActivity ? occupant : undefined;
}
