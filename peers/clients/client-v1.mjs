// The TypeScript SDK v1 as a client; see `report.mjs`.
import { report } from "./report.mjs";

await report("v1");
