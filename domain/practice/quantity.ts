const MILLICORES = 1000;
const BYTES_IN_MEBIBYTE = 1_048_576;
const MEBIBYTES_IN_GIBIBYTE = 1024;

/** Returns memory as a quantity of Kubernetes, rounded up to whole mebibytes: `64Gi`. */
export function memoryText(bytes: number): string {
  const mebibytes = Math.ceil(bytes / BYTES_IN_MEBIBYTE);
  return mebibytes % MEBIBYTES_IN_GIBIBYTE === 0 ? `${mebibytes / MEBIBYTES_IN_GIBIBYTE}Gi` : `${mebibytes}Mi`;
}

/** Returns a size of memory, rounded down to whole gibibytes if there are any, otherwise to whole mebibytes. */
export function roundMemory(bytes: number): number {
  const gibibyte = BYTES_IN_MEBIBYTE * MEBIBYTES_IN_GIBIBYTE;
  const unit = bytes >= gibibyte ? gibibyte : BYTES_IN_MEBIBYTE;
  return Math.floor(bytes / unit) * unit;
}

/** Returns CPU as a quantity of Kubernetes: `12` cores, or `1500m`. */
export function cpuText(millicores: number): string {
  return millicores % MILLICORES === 0 ? String(millicores / MILLICORES) : `${millicores}m`;
}

/** Returns an amount of CPU in millicores, rounded down to whole cores if there are any. */
export function roundCpu(millicores: number): number {
  return millicores >= MILLICORES ? Math.floor(millicores / MILLICORES) * MILLICORES : Math.floor(millicores);
}
