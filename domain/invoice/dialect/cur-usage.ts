import type { CapacityType } from "../../inventory.ts";

/** The time of machines in EC2's usage types, and what the type adds to it. */
export interface MachineUsage {
  readonly instanceType: string;
  readonly of: "machine" | "unused capacity" | "capacity reservation" | "capacity block";
  readonly capacityType: CapacityType | "";
}

/**
 * Usage types of machine time: `USE2-BoxUsage:p5.48xlarge`. `UnusedBox` and `UnusedDed` are the hours of a capacity reservation that no
 * machine took. `Reservation` and `DedicatedRes` repeat all hours of a capacity reservation; they cost 0 if machines and unused hours pay.
 * `HeavyUsage` is the fee of a reserved instance.
 * Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-pricing-billing.html.
 */
const MACHINE_USAGE =
  /(?:^|-)(BoxUsage|SpotUsage|DedicatedUsage|HostBoxUsage|HeavyUsage|UnusedBox|UnusedDed|Reservation|DedicatedRes|CapacityBlock[A-Za-z]*)(?::([\w.-]+))?$/;

/** Returns the time of machines that a usage type of EC2 stands for; undefined for another usage type. */
export function machineUsage(usageType: string): MachineUsage | undefined {
  const match = MACHINE_USAGE.exec(usageType);
  if (match === null) return undefined;
  // Instances of one size have been written without it: `BoxUsage` is an m1.small.
  const [, word = "", instanceType = ""] = match;
  if (word.startsWith("Unused")) return { instanceType, of: "unused capacity", capacityType: "on-demand" };
  if (word === "Reservation" || word === "DedicatedRes")
    return { instanceType, of: "capacity reservation", capacityType: "on-demand" };
  if (word.startsWith("CapacityBlock")) return { instanceType, of: "capacity block", capacityType: "reserved" };
  return { instanceType, of: "machine", capacityType: word === "SpotUsage" ? "spot" : "on-demand" };
}

/** Returns the kind of a line of AWS that is not the time of a machine; undefined for another service. */
export function otherKind(usageType: string): "disk" | "network" | "licence" | undefined {
  if (/EBS:|Snapshot/.test(usageType)) return "disk";
  if (/DataTransfer|-Bytes$|PublicIPv4|ElasticIP|NatGateway/.test(usageType)) return "network";
  if (/SoftwareUsage|License/i.test(usageType)) return "licence";
  return undefined;
}

/** True for the product codes of AWS's support plans: `AWSSupportEnterprise`, `AWSPremiumSupport`, `OCBPremiumSupport`. */
export function isSupport(service: string): boolean {
  return /support/i.test(service);
}
