import type { Device } from "../device.ts";
import { fields, listOf, mark, optional, recordOf, text, whole, type Shape } from "./shape.ts";
import { object, texts } from "./shapes.ts";

const device = object<Device>({
  gpu: optional(text),
  uuid: optional(text),
  pciBusId: optional(text),
  model: optional(text),
  serial: optional(text),
  driverVersion: optional(text),
  instance: optional(text),
  profile: optional(text),
  partition: optional(text),
  namespace: optional(text),
  pod: optional(text),
  podUid: optional(text),
  container: optional(text),
  vgpu: optional(text),
  hpcJob: optional(text),
  claim: optional(texts),
  hostname: optional(text),
  xidMessage: optional(text),
  labels: optional(texts),
  repeatsGpu: optional(mark),
  repeatsDevice: optional(mark),
});

/** The shape of a list of different texts. */
export const distinctTexts: Shape = (value, path) =>
  listOf(text)(value, path) ??
  (new Set(value as string[]).size === (value as string[]).length ? undefined : `${path} has a name twice`);

/** The shape of a scrape's stable part. */
export const stableShape = fields({
  cluster: text,
  node: text,
  target: text,
  collector: text,
  exporter: text,
  columns: distinctTexts,
  devices: listOf(device),
});

/** The shape of a scrape's event part. */
export const eventShape = fields({
  failure: optional(fields({ reason: text, detail: text })),
  dropped: recordOf(whole(0xffff_ffff)),
});
