import type { KubeObject } from "./kube-object.ts";

/** A ResourceClaim of `resource.k8s.io`. Its status is the same in v1beta1, v1beta2 and v1. */
export interface ResourceClaimObject extends KubeObject {
  readonly spec?: { readonly devices?: { readonly requests?: readonly ClaimRequestObject[] | null } | null } | null;
  readonly status?: {
    readonly allocation?: {
      readonly allocationTimestamp?: string | null;
      readonly devices?: { readonly results?: readonly ClaimResultObject[] | null } | null;
    } | null;
    readonly reservedFor?: readonly { readonly resource?: string; readonly uid?: string }[] | null;
  } | null;
}

/** A request of a claim. v1beta1 has the fields of `exactly` in the request itself. */
export interface ClaimRequestObject {
  readonly adminAccess?: boolean | null;
  readonly exactly?: { readonly adminAccess?: boolean | null } | null;
}

/** One device of an allocated claim. */
export interface ClaimResultObject {
  readonly driver?: string;
  readonly pool?: string;
  readonly device?: string;
  readonly shareID?: string | null;
  /** The capacity that the claim consumes of a device that several claims can share (KEP-5075). */
  readonly consumedCapacity?: DeviceCapacity | null;
  /** The claim may monitor the device, which stays available to others. */
  readonly adminAccess?: boolean | null;
}

/** A ResourceSlice of `resource.k8s.io`. */
export interface ResourceSliceObject extends KubeObject {
  readonly spec?: {
    readonly driver?: string;
    readonly nodeName?: string | null;
    readonly pool?: { readonly name?: string } | null;
    readonly devices?: readonly SliceDeviceObject[] | null;
  } | null;
}

/** A device of a slice. v1beta1 nests its fields under `basic`. */
export interface SliceDeviceObject {
  readonly name?: string;
  readonly attributes?: DeviceAttributes | null;
  readonly capacity?: DeviceCapacity | null;
  /** Several claims can have the device at the same time. */
  readonly allowMultipleAllocations?: boolean | null;
  /** Taints that keep new claims from the device. Depending on the effect, its holder keeps the device or not (KEP-5055). */
  readonly taints?: readonly DeviceTaintObject[] | null;
  readonly basic?: { readonly attributes?: DeviceAttributes | null; readonly capacity?: DeviceCapacity | null } | null;
}

/** A taint of a device. The effect `None`, and any unknown effect, has no effect. */
export interface DeviceTaintObject {
  readonly key?: string;
  readonly effect?: string;
  readonly timeAdded?: string | null;
}

/** A DeviceTaintRule of `resource.k8s.io`: a taint for all devices that match the selector; without a selector, for none. */
export interface DeviceTaintRuleObject extends KubeObject {
  readonly spec?: {
    readonly deviceSelector?: {
      readonly driver?: string | null;
      readonly pool?: string | null;
      readonly device?: string | null;
    } | null;
    readonly taint?: DeviceTaintObject | null;
  } | null;
}

/** The capacity of a device by dimension. `v1alpha3` writes the quantity without `value`. */
export type DeviceCapacity = Readonly<Record<string, { readonly value?: unknown } | string | number | null>>;

/** Attributes by name. Those of the driver's own domain may be written with or without it. */
export type DeviceAttributes = Readonly<
  Record<string, { readonly string?: string | null; readonly version?: string | null } | null>
>;
