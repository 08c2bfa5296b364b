import type { CloudName } from "../export-line.ts";

/** Returns the EC2 instance of a resource of AWS: `i-0abc`, or an ARN that ends with it; empty for another resource. */
export function awsMachine(resource: string): string {
  if (!resource.includes("i-")) return "";
  return /(?:^|[/:])(i-[0-9a-z]+)$/.exec(resource)?.[1] ?? "";
}

/** Returns the id of a capacity reservation or block of AWS: `cr-0abc`, or an ARN that ends with it; empty for another resource. */
export function awsCapacityReservation(resource: string): string {
  if (!resource.includes("cr-")) return "";
  return /(?:^|[/:])(cr-[0-9a-z]+)$/.exec(resource)?.[1] ?? "";
}

const AZURE_MACHINE = /^\/subscriptions\/.*\/providers\/microsoft\.compute\/virtualmachines\/[^/]+$/;
const AZURE_SCALE_SET =
  /^(\/subscriptions\/.*\/providers\/microsoft\.compute\/virtualmachinescalesets\/([^/]+))(\/virtualmachines\/\d+)?$/;

/**
 * Returns the machine of a resource of Azure, in lower case, as a Node's `spec.providerID` has it. The resource of a machine in a scale set
 * is the scale set; the machine is in the instance name, `gpu-vmss_3` or, as its host name, `gpu-vmss000003` with a number to base 36.
 * Empty for another resource, and for a scale set without the name.
 * Source: https://learn.microsoft.com/azure/virtual-machine-scale-sets/virtual-machine-scale-sets-instance-ids.
 */
export function azureMachine(resource: string, instanceName = ""): string {
  const id = resource.toLowerCase();
  if (AZURE_MACHINE.test(id)) return id;
  const [, scaleSet, name = "", member] = AZURE_SCALE_SET.exec(id) ?? [];
  if (scaleSet === undefined) return "";
  if (member !== undefined) return id;
  const instance = instanceName.toLowerCase();
  if (!instance.startsWith(name)) return "";
  const rest = instance.slice(name.length);
  const number = /^_(\d+)$/.exec(rest)?.[1] ?? (/^[0-9a-z]{6}$/.test(rest) ? String(parseInt(rest, 36)) : undefined);
  return number === undefined ? "" : `${scaleSet}/virtualmachines/${number}`;
}

/** The parts of a machine of Google as an export has them. */
export interface GoogleResource {
  /** The text id of the project, not its number. */
  readonly project: string;
  readonly zone: string;
  /** `gpu-node-1` or `projects/<project>/instances/gpu-node-1`. */
  readonly name: string;
  /** `//compute.googleapis.com/projects/<number>/zones/<zone>/instances/<number>`; empty if the export has none. */
  readonly globalName: string;
}

/**
 * Returns the machine of a resource of Google: `project/zone/name`, as a Node's `spec.providerID` has it. The global name has numbers in
 * place of the project and the instance, so it gives only the zone and the kind of the resource. Empty for another resource.
 * Source: https://cloud.google.com/billing/docs/how-to/export-data-bigquery-tables/detailed-usage.
 */
export function googleMachine({ project, zone, name, globalName }: GoogleResource): string {
  const [, place = "", instance = ""] = /\/zones\/([^/]+)\/instances\/([^/]+)$/.exec(globalName) ?? [];
  const [, owner = "", named] = /^(?:projects\/([^/]+)\/)?(?:zones\/[^/]+\/)?instances\/([^/]+)$/.exec(name) ?? [];
  if (instance === "" && named === undefined) return "";
  const machine = named ?? (name === "" ? instance : name);
  const at = place === "" ? zone : place;
  const of = project === "" ? owner : project;
  return of === "" || at === "" || machine.includes("/") ? "" : `${of}/${at}/${machine}`;
}

/** Returns the machine of a resource of Oracle, an OCID of an instance; empty for another resource. */
export function oracleMachine(resource: string): string {
  return resource.startsWith("ocid1.instance.") ? resource : "";
}

/** Returns the cloud that the name of a provider or a publisher in an export stands for. */
export function cloudOf(provider: string): CloudName {
  const name = provider.toLowerCase();
  if (/\baws\b|amazon/.test(name)) return "aws";
  if (/microsoft|azure/.test(name)) return "azure";
  if (/google|gcp/.test(name)) return "gcp";
  if (/oracle|\boci\b/.test(name)) return "oci";
  return "other";
}
