// The TypeScript SDK v2 as a client of revision 2026-07-28; see `report.mjs`.
import { report } from "./report.mjs";

await report("modern");
