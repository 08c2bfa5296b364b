import { gpusOfInstanceType, isGpuFamily } from "../../gpu-model/instance-types.ts";

/** The lines that count beside those of known GPU machines. */
export interface Keeping {
  /** Machines of the ledger, as `machineIdOf` (domain/invoice/machine-id.ts) writes them. All of their lines count. */
  readonly machines: ReadonlySet<string>;
  /** More instance types with GPUs, in lower case. */
  readonly instanceTypes: ReadonlySet<string>;
  /** Accounts of which every machine counts, with GPUs or without. */
  readonly accounts: ReadonlySet<string>;
  /** Services of which every line counts, in lower case: `amazonsagemaker`, `vertex ai`. */
  readonly services: ReadonlySet<string>;
}

/** The lines of known GPU machines alone. */
export const GPU_MACHINES: Keeping = {
  machines: new Set(),
  instanceTypes: new Set(),
  accounts: new Set(),
  services: new Set(),
};

/** The facts of a line by which its machine counts. */
export interface MachineFacts {
  readonly machine: string;
  readonly instanceType: string;
  readonly account: string;
}

/** True if the lines of this machine count: it is a machine of the ledger, its type has GPUs, or its account counts as a whole. */
export function keepsMachine(keeping: Keeping, { machine, instanceType, account }: MachineFacts): boolean {
  if (machine !== "" && keeping.machines.has(machine)) return true;
  return keepsType(keeping, instanceType) || keeping.accounts.has(account);
}

/** True if machines of this type count: a GPU type of a cloud, or a type that the caller has named. */
export function keepsType(keeping: Keeping, instanceType: string): boolean {
  if (instanceType === "") return false;
  if (gpusOfInstanceType(instanceType) !== undefined) return true;
  return keeping.instanceTypes.size > 0 && keeping.instanceTypes.has(instanceType.toLowerCase());
}

/** True if a family of instance types has GPUs (`p5`, `g6e`), or if the caller has named a type of it. */
export function keepsFamily(keeping: Keeping, family: string): boolean {
  if (isGpuFamily(family)) return true;
  const prefix = `${family.toLowerCase()}.`;
  return [...keeping.instanceTypes].some((type) => type.startsWith(prefix));
}

/** True if every line of a service counts. */
export function keepsService(keeping: Keeping, ...names: readonly string[]): boolean {
  return keeping.services.size > 0 && names.some((name) => keeping.services.has(name.toLowerCase()));
}
