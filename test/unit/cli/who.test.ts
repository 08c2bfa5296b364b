import { userInfo } from "node:os";
import { expect, it } from "vitest";
import { whoRuns } from "../../../cli/who.ts";

it("names who runs a command, by the user's number where the system knows no name for it", () => {
  expect(whoRuns()).toBe(userInfo().username);
  const nobody = (): never => {
    throw new Error("uv_os_get_passwd returned ENOENT");
  };
  expect(whoRuns(nobody)).toBe(`uid ${process.getuid!()}`);
});
