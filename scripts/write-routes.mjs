// Writes the table of routes into docs/access.md, from the build.
import { readFileSync, writeFileSync } from "node:fs";
import { routesMarkdown } from "../dist/reports/server/routes-page.js";

const PAGE = "docs/access.md";
const [BEGIN, END] = ["<!-- routes: written by npm run generate -->", "<!-- end of routes -->"];
const page = readFileSync(PAGE, "utf8");
writeFileSync(PAGE, `${page.split(BEGIN)[0]}${BEGIN}\n\n${routesMarkdown()}\n\n${END}${page.split(END)[1]}`);
