// Writes the commands that `@actions/core` writes for the annotations on standard input: one JSON array.
import { error, notice, warning } from "@actions/core";
import { readFileSync } from "node:fs";

const annotate = { error, notice, warning };
for (const { command, message, properties } of JSON.parse(readFileSync(0, "utf8"))) {
  annotate[command](message, properties);
}
