import { createHash } from "node:crypto";

/**
 * Returns the SBOM of the packages that the program needs, in CycloneDX, from npm and by the lock. It has the time of the commit, and a
 * serial number that follows from the commit. Throws if npm's list is not the lock's.
 */
export function sbomOf(lock, { commit, committedAt, run }) {
  const needed = new Set(
    Object.entries(lock.packages)
      .filter(([path, { dev }]) => path !== "" && dev !== true)
      .map(([path, { name, version }]) => `${name ?? path.slice(path.lastIndexOf("node_modules/") + 13)}@${version}`),
  );
  // npm 11 leaves out a package that is also needed for development (`--omit=dev`), so all packages are listed, and the lock decides.
  const sbom = JSON.parse(
    run("npm", "sbom", "--sbom-format=cyclonedx", "--sbom-type=application", "--package-lock-only"),
  );
  const components = sbom.components
    .filter(({ name, version }) => needed.delete(`${name}@${version}`))
    .toSorted((a, b) => (a["bom-ref"] < b["bom-ref"] ? -1 : 1));
  if (needed.size > 0) throw new Error(`npm's SBOM lacks ${[...needed].join(", ")}`);

  const root = { ...sbom.metadata.component, name: lock.name };
  const refs = new Set([root, ...components].map((component) => component["bom-ref"]));
  const dependencies = sbom.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)).toSorted() }))
    .toSorted((a, b) => (a.ref < b.ref ? -1 : 1));
  return {
    ...sbom,
    serialNumber: `urn:uuid:${uuidOf(`${commit} sbom`)}`,
    metadata: { ...sbom.metadata, timestamp: committedAt, component: root },
    components,
    dependencies,
  };
}

/** Returns the UUID of a text: version 8 of RFC 9562, from its SHA-256. */
function uuidOf(text) {
  const bytes = createHash("sha256").update(text).digest().subarray(0, 16);
  bytes[6] = (bytes[6] & 0x0f) | 0x80;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
