// Completes `dist/` after the compiler: the files that are read at run time and are not TypeScript, and the executable bit of the command.
import { chmodSync, cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";

if (existsSync("runtime/store/migrations")) {
  // A migration of an earlier build that was renamed since would be a second one of its number.
  rmSync("dist/runtime/store/migrations", { recursive: true, force: true });
  cpSync("runtime/store/migrations", "dist/runtime/store/migrations", { recursive: true });
}
if (existsSync("reports/parts/assets"))
  cpSync("reports/parts/assets", "dist/reports/parts/assets", { recursive: true });
if (existsSync("deploy/kubernetes")) cpSync("deploy/kubernetes", "dist/deploy/kubernetes", { recursive: true });
if (existsSync("docs/runbooks")) cpSync("docs/runbooks", "dist/docs/runbooks", { recursive: true });
cpSync("config/prices.example.yaml", "dist/config/prices.example.yaml");
if (existsSync("dist/cli/main.js")) chmodSync("dist/cli/main.js", 0o755);
const { name, version, type, engines } = JSON.parse(readFileSync("package.json", "utf8"));
writeFileSync("dist/package.json", `${JSON.stringify({ name, version, type, engines }, null, 2)}\n`);
