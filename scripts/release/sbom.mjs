/**
 * Returns the SBOM of the packages that the program needs, in CycloneDX, from npm. It has the time of the commit, and a serial number that
 * follows from the commit: a UUID of version 8 of RFC 9562.
 */
export function sbomOf({ name, commit, committedAt, run }) {
  // npm 11 leaves out a package that is also needed for development (`--omit=dev`). It marks the packages that only development needs.
  const sbom = JSON.parse(
    run("npm", "sbom", "--sbom-format=cyclonedx", "--sbom-type=application", "--package-lock-only"),
  );
  const isNeeded = ({ properties = [] }) => !properties.some((each) => each.name === "cdx:npm:package:development");
  const byKey = (key) => (a, b) => (a[key] < b[key] ? -1 : 1);
  const components = sbom.components.filter(isNeeded).toSorted(byKey("bom-ref"));
  const root = { ...sbom.metadata.component, name };
  const refs = new Set([root, ...components].map((component) => component["bom-ref"]));
  const isListed = (ref) => refs.has(ref);
  const dependencies = sbom.dependencies
    .filter(({ ref }) => isListed(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isListed).toSorted() }))
    .toSorted(byKey("ref"));
  const [, a, b, c, d, e] = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(commit);
  return {
    ...sbom,
    serialNumber: `urn:uuid:${a}-${b}-8${c}-8${d}-${e}`,
    metadata: { ...sbom.metadata, timestamp: committedAt, component: root },
    components,
    dependencies,
  };
}
