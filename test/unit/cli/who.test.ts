import { userInfo } from "node:os";
import { expect, it } from "vitest";
import { whoRuns } from "../../../cli/who.ts";

it("the name of the user who runs a command is the user's number if the system has no name for it", () => {
  expect(whoRuns()).toBe(userInfo().username);
  const nobody = (): never => {
    throw new Error("uv_os_get_passwd returned ENOENT");
  };
  expect(whoRuns(nobody)).toBe(`uid ${process.getuid!()}`);
});
