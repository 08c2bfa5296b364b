const REPOSITORY = "https://github.com/gpu-ledger/gpu-ledger";

/**
 * Returns the provenance of a release: an in-toto statement (v1) about its files and images, with the predicate of SLSA (v1). It has no time
 * and no identifier of a run, so that it can be made again from the commit. https://slsa.dev/spec/v1.0/provenance
 */
export function provenanceOf(subject, { version, commit, isTrial, lockSha256, bases, npm }) {
  const source = { uri: `git+${REPOSITORY}@refs/tags/v${version}`, digest: { gitCommit: commit } };
  const lock = { name: "package-lock.json", digest: { sha256: lockSha256 } };
  const page = `${REPOSITORY}/blob/v${version}/RELEASING.md`;
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject,
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: `${page}#the-files-of-a-release`,
        externalParameters: { tag: `v${version}`, ...(isTrial ? { trial: true } : {}) },
        resolvedDependencies: [source, lock, ...bases],
      },
      runDetails: { builder: { id: page, version: { npm } } },
    },
  };
}
