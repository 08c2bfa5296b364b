/** A GPU at a moment, milliseconds since the epoch. It selects the lines at that moment. */
export interface GpuAt {
  readonly at: number;
  readonly gpu: { readonly cluster: string; readonly node: string; readonly slot: number };
}

/** Reads a GPU at a moment in the form `prod/gpu-a/3@2026-03-02T10:15:00Z`, or returns an error. */
export function readGpuAt(text: string): { readonly line: GpuAt } | { readonly error: string } {
  const [, cluster, node, gpu, time] = /^([^/]+)\/([^/]+)\/(\d{1,4})@(.+)$/.exec(text) ?? [];
  const at = Date.parse(time ?? "");
  if (cluster === undefined || node === undefined || Number.isNaN(at))
    return {
      error: `${text}: must be cluster/node/gpu@time, such as prod/gpu-a/3@2026-03-02T10:15:00Z`,
    };
  return { line: { at, gpu: { cluster, node, slot: Number(gpu) } } };
}
