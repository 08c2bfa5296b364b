import { setImmediate } from "node:timers/promises";
import type { Charge } from "../../../domain/charge/charge.ts";
import {
  addAmounts,
  NO_AMOUNTS,
  type ServiceCharge,
  type ServingAmounts,
  type ServingLine,
} from "../../../domain/serving/line.ts";
import type { Service, ServiceName } from "../../../domain/serving/service.ts";
import type { SplitRule } from "../../../domain/serving/split-rule.ts";
import { splitService, type ServingRule } from "../../../domain/serving/split-service.ts";
import { COUNTED } from "../charge/amounts.ts";
import type { Breach } from "../charge/breach.ts";

/** A line with the rule that made it. */
export type RuledLine = ServingLine & { readonly rule: SplitRule };

/** The charges of services in one hour under one policy, and their split. */
export interface ServingSplit {
  /** Adds charges. Only those of pods of services count. */
  add(charges: readonly Charge[]): void;
  /** Splits the charges. Other work of the process goes on between two services. */
  end(): Promise<ServedLines>;
}

/** The split charges of an hour. */
export interface ServedLines {
  /** The lines of all services under each rule. */
  readonly lines: readonly RuledLine[];
  /** Each sum of lines that differs from the charges. */
  readonly breaches: readonly Breach[];
  /** Services whose counters cannot be used. Their cost is unmeasured, and the charges of all others go on. */
  readonly unsplit: readonly UnsplitService[];
}

/** A service whose charges could not be split by its counters. */
export interface UnsplitService {
  readonly service: ServiceName;
  readonly error: unknown;
}

/** States in which a pod has a GPU and has not begun to serve. */
const BEFORE_START: ReadonlySet<Charge["state"]> = new Set(["starting", "waiting"]);

/** Creates a split of the charges of some services. Charges that wait to be spread belong to no service. */
export function createServingSplit(
  policy: string,
  services: readonly Service[],
  rules: readonly ServingRule[],
): ServingSplit {
  const charges = new Map(services.map((service) => [keyOf(service), new Map<string, ServiceCharge>()]));
  return {
    add(added) {
      if (services.length === 0) return;
      for (const charge of added) {
        const { holder, payer, cluster } = charge;
        if (holder === undefined || payer === "spread") continue;
        const ofService = charges.get(keyOf({ cluster, ...holder }));
        if (ofService !== undefined) addCharge(ofService, serviceCharge(charge, holder.id));
      }
    },
    async end() {
      const lines: RuledLine[] = [];
      const breaches: Breach[] = [];
      const unsplit: UnsplitService[] = [];
      const splitOf = (service: Service, own: readonly ServiceCharge[], rule: ServingRule): readonly ServingLine[] => {
        try {
          return splitService(service, own, rule);
        } catch (error) {
          const { cluster, namespace, workloadKind, workload } = service;
          unsplit.push({ service: { cluster, namespace, workloadKind, workload }, error });
          return splitService({ ...service, replicas: [], works: [], frontend: [], tenants: [] }, own, rule);
        }
      };
      for (const service of services) {
        await setImmediate();
        const own = [...charges.get(keyOf(service))!.values()];
        for (const rule of rules) {
          const split = splitOf(service, own, rule);
          for (const line of split) lines.push({ ...line, rule: rule.rule });
          breaches.push(...breachesOf({ policy, service, rule: rule.rule }, sumOf(own), sumOf(split)));
        }
      }
      return { lines, breaches, unsplit };
    },
  };
}

function breachesOf(
  of: { readonly policy: string; readonly service: Service; readonly rule: SplitRule },
  expected: ServingAmounts,
  found: ServingAmounts,
): readonly Breach[] {
  const { policy, service, rule } = of;
  const node = `${service.namespace}/${service.workload}`;
  return COUNTED.flatMap(([what, name]) => {
    const [wanted, got] = [expected[name] ?? 0n, found[name] ?? 0n];
    return wanted === got ? [] : [{ policy, node, slot: rule, what, expected: String(wanted), found: String(got) }];
  });
}

function addCharge(charges: Map<string, ServiceCharge>, charge: ServiceCharge): void {
  const key = JSON.stringify([charge.pod, charge.isStarting, charge.payer]);
  const known = charges.get(key);
  charges.set(key, known === undefined ? charge : { ...known, amounts: addAmounts(known.amounts, charge.amounts) });
}

function serviceCharge(charge: Charge, pod: string): ServiceCharge {
  const { payer, team, costCenter, project, environment, gpuModel, gpuHours, costs, power, millijoules, carbon } =
    charge;
  const { list, contracted, effective } = costs ?? {};
  return {
    pod,
    isStarting: BEFORE_START.has(charge.state),
    payer: { payer, team, costCenter, project, environment, gpuModel },
    amounts: { gpuHours, list, contracted, effective, power, millijoules, carbon },
  };
}

function sumOf(items: Iterable<{ readonly amounts: ServingAmounts }>): ServingAmounts {
  let sum = NO_AMOUNTS;
  for (const { amounts } of items) sum = addAmounts(sum, amounts);
  return sum;
}

function keyOf({ cluster, namespace, workloadKind, workload }: ServiceName): string {
  return JSON.stringify([cluster, namespace, workloadKind, workload]);
}
