import type { CloudName } from "./export-line.ts";

/** A machine of a cloud, as a Node's `spec.providerID` or a line of an export names it. */
export interface CloudMachine {
  readonly cloud: CloudName;
  /** The id that Node and export have in common. */
  readonly machine: string;
}

/**
 * Returns the machine of a Node's `spec.providerID`: `aws:///us-east-1a/i-0abc`, `gce://project/zone/name`,
 * `azure:///subscriptions/…/virtualMachines/3` in any case, `oci://ocid1.instance…` or a bare OCID. Another id stays whole, as a machine of
 * `other`. Undefined if the id is empty.
 * Source: https://github.com/kubernetes/cloud-provider-aws, -gcp, -azure and https://github.com/oracle/oci-cloud-controller-manager.
 */
export function cloudMachineOf(providerId: string): CloudMachine | undefined {
  if (providerId === "") return undefined;
  if (/^(?:oci:\/\/)?ocid1\./.test(providerId)) return { cloud: "oci", machine: providerId.replace(/^oci:\/\//, "") };
  const [, scheme = "", path = ""] = /^([a-z]+):\/\/(.*)$/.exec(providerId) ?? [];
  switch (scheme) {
    case "aws":
      return { cloud: "aws", machine: path.slice(path.lastIndexOf("/") + 1) };
    case "gce":
      return { cloud: "gcp", machine: path };
    case "azure":
      return { cloud: "azure", machine: path.toLowerCase() };
    default:
      return { cloud: "other", machine: providerId };
  }
}
