// Checks that each image of others in the Dockerfile, in docker-compose.yml and in deploy/ has its digest beside its tag, and the same
// digest everywhere. With `--registry`, asks the registry too: each digest must be there, for amd64 and arm64, and no exceptions hold.
// With `--list`, prints them with their file. With `--write`, writes the digests that the tags have in the registry. `--registry=ADDRESS` and `--write=ADDRESS` name another registry
// than Docker Hub.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

/** Images whose digest is not known here, with the reason. `--write` finds it. */
const WITHOUT_DIGEST = {
  "clickhouse/clickhouse-server:26.3.27.4": "no registry could be asked when the digests of the others were written",
};
/** Our own image. A release builds it. */
const OURS = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).config.image;
const INDEX = ["application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json"];
const PLATFORMS = ["linux/amd64", "linux/arm64"];
const PATIENCE_MILLIS = 20_000;

const [, flag, registry = "https://registry-1.docker.io"] =
  /^--(registry|write)(?:=(.*))?$/.exec(process.argv[2] ?? "") ?? [];
const files = [
  "Dockerfile",
  "docker-compose.yml",
  ...readdirSync("deploy", { recursive: true, encoding: "utf8" })
    .filter((path) => /\.(ya?ml|tpl)$/.test(path))
    .map((path) => `deploy/${path}`),
];
const images = files.flatMap((file) => imagesOf(file, readFileSync(file, "utf8")));
if (process.argv[2] === "--list")
  for (const { file, tagged, digest } of images) console.log(`${file} ${tagged}@${digest ?? ""}`);
const problems = flag === "write" ? [] : images.flatMap(offlineProblems);
for (const image of flag === undefined ? [] : images) {
  try {
    problems.push(...(await (flag === "write" ? write(image) : registryProblems(image))));
  } catch (error) {
    problems.push(`${image.file}: ${image.tagged}: no answer of the registry (${error.cause?.code ?? error.message})`);
  }
}
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

/** Returns the images of others in a file: where they are, with their tag and their digest. */
function imagesOf(file, text) {
  const args = Object.fromEntries([...text.matchAll(/^ARG (\w+)=(\S+)$/gm)].map(([, name, value]) => [name, value]));
  const stages = [...text.matchAll(/^FROM \S+ AS (\S+)$/gm)].map(([, name]) => name);
  const lines = file === "Dockerfile" ? /^(?:FROM|# syntax=) *(\S+)/gm : /^[ \t]*(?:- )?image:[ \t]+["']?([^\s"'#]+)/gm;
  const named = [...text.matchAll(lines)]
    .map(([, words]) => words.replaceAll(/\$\{(\w+)\}/g, (_, name) => args[name] ?? ""))
    .filter((words) => !stages.includes(words) && !words.startsWith(`${OURS}:`) && !words.startsWith("{{"));
  return [...new Set(named)].map((words) => {
    const [tagged, digest] = words.split("@");
    return { file, tagged, digest };
  });
}

function offlineProblems({ file, tagged, digest }) {
  const isExcepted = Object.hasOwn(WITHOUT_DIGEST, tagged);
  const others = images.filter((image) => image.tagged === tagged && image.digest !== digest);
  return [
    ...(/:[^/]+$/.test(tagged) ? [] : [`${file}: ${tagged} has no tag`]),
    ...(/^sha256:[0-9a-f]{64}$/.test(digest ?? "") || (digest === undefined && isExcepted)
      ? []
      : [`${file}: ${tagged} has no digest: node scripts/images.mjs --write`]),
    ...(digest !== undefined && isExcepted ? [`${tagged} has its digest: remove it from scripts/images.mjs`] : []),
    ...(others.length > 0 ? [`${file}: ${tagged} has another digest in ${others[0].file}`] : []),
  ];
}

async function registryProblems({ file, tagged, digest }) {
  if (digest === undefined) return [`${file}: ${tagged} has no digest: node scripts/images.mjs --write`];
  const { answer } = await manifest(tagged, digest);
  if (answer.status !== 200) return [`${file}: ${tagged}@${digest} is not in the registry (${answer.status})`];
  const platforms = (await answer.json()).manifests?.map(({ platform }) => `${platform?.os}/${platform?.architecture}`);
  const lacking = PLATFORMS.filter((platform) => platforms?.includes(platform) !== true);
  return lacking.length > 0 ? [`${file}: ${tagged}@${digest} is not for ${lacking.join(" and ")}`] : [];
}

/** Asks for a manifest, with the anonymous token that the registry demands. */
async function manifest(tagged, reference) {
  const name = tagged.slice(0, tagged.lastIndexOf(":"));
  const url = `${registry}/v2/${name.includes("/") ? name : `library/${name}`}/manifests/${reference}`;
  const ask = (headers) =>
    fetch(url, { headers: { accept: INDEX.join(", "), ...headers }, signal: AbortSignal.timeout(PATIENCE_MILLIS) });
  const answer = await ask({});
  const demand = answer.headers.get("www-authenticate");
  if (answer.status !== 401 || demand === null) return { answer };
  const fields = Object.fromEntries([...demand.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value]));
  const { realm, ...query } = fields;
  const granted = await fetch(`${realm}?${new URLSearchParams(query)}`, {
    signal: AbortSignal.timeout(PATIENCE_MILLIS),
  });
  const { token } = await granted.json();
  return { answer: await ask({ authorization: `Bearer ${token}` }) };
}

/** Writes the digest that an image's tag has now. Returns the problem that prevented it. */
async function write({ file, tagged, digest }) {
  const { answer } = await manifest(tagged, tagged.slice(tagged.lastIndexOf(":") + 1));
  const found = answer.headers.get("docker-content-digest");
  if (answer.status !== 200 || found === null) return [`${file}: ${tagged}: the registry answered ${answer.status}`];
  if (found === digest) return [];
  const text = readFileSync(file, "utf8");
  const written = digest === undefined ? text.replaceAll(tagged, `${tagged}@${found}`) : text.replaceAll(digest, found);
  writeFileSync(file, written);
  console.log(`${file}: ${tagged}@${found}`);
  return [];
}
