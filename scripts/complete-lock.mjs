// Completes package-lock.json after `npm install`: a registry mirror can lack the packages of other platforms, and npm then
// leaves them out of the lock, which `npm ci` refuses. Their exact versions are in the packages that require them. Also
// removes the addresses of packages, so that a lock has no registry. With `--again`, before `npm install`, removes the packages without an
// integrity instead: npm adds them with it where the registry has them.
import { readFileSync, writeFileSync } from "node:fs";

const OS = ["darwin", "linux", "win32", "android", "freebsd", "openbsd", "netbsd", "sunos", "aix", "openharmony"];
const CPU = ["x64", "arm64", "arm", "ia32", "ppc64", "riscv64", "s390x", "loong64", "mips64el", "wasm32"];

const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
const write = () => writeFileSync("package-lock.json", `${JSON.stringify(lock, null, 2)}\n`);
if (process.argv.includes("--again")) {
  const isWhole = ([path, { integrity }]) => path === "" || integrity !== undefined;
  lock.packages = Object.fromEntries(Object.entries(lock.packages).filter(isWhole));
  write();
  process.exit();
}

const added = [];
for (const entry of Object.values(lock.packages)) {
  delete entry.resolved;
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const path = `node_modules/${name}`;
    if (lock.packages[path] !== undefined || !/^\d/.test(version)) continue;
    const words = name.split(/[/-]/);
    const os = words.filter((word) => OS.includes(word));
    const cpu = words.filter((word) => CPU.includes(word));
    lock.packages[path] = {
      version,
      ...(cpu.length > 0 ? { cpu } : {}),
      ...(entry.dev === true ? { dev: true } : {}),
      optional: true,
      ...(os.length > 0 ? { os } : {}),
    };
    added.push(`${name}@${version}`);
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
write();
console.log(added.length === 0 ? "the lock is complete" : `added ${added.join(", ")}`);
