const PROFILE = /^(?:(\d+)c\.)?(\d+)g\.(\d+)gb(.*)$/;
/**
 * The tolerance for the memory in profile names, which is rounded differently: `7g.79gb` is 7g.80gb, `1g.11gb` is 1g.12gb
 * (NVIDIA/dcgm-exporter#544).
 */
const TOLERANCE_GB = 2;

/**
 * Returns whether two MIG profile names, of an exporter and of a resource, can mean the same profile on one node: equal slices and
 * attributes, and memory that differs by at most 2 GB.
 */
export function isSameProfile(a: string, b: string): boolean {
  if (a === b) return true;
  const [one, other] = [PROFILE.exec(a), PROFILE.exec(b)];
  if (one === null || other === null) return false;
  return (
    one[1] === other[1] &&
    one[2] === other[2] &&
    one[4] === other[4] &&
    Math.abs(Number(one[3]) - Number(other[3])) <= TOLERANCE_GB
  );
}
