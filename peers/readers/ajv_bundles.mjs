// Reads schemas by the dialect that they name, as Ajv does. A line in is {"schema": …, "values": […]}; a line out is
// {"error": …} or {"accepted": […]}.
import { createInterface } from 'node:readline';
import { Ajv } from 'ajv';
import draft04 from 'ajv-draft-04';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';

const AjvDraft04 = draft04.default;

// The metaschemas that a bundle embeds are its own.
const options = { strict: false, validateFormats: false, meta: false, validateSchema: false, logger: false };

function reader(schema) {
    const dialect = schema.$schema ?? '2020-12';
    if (dialect.includes('draft-04')) return new AjvDraft04(options);
    if (dialect.includes('draft-0')) return new Ajv(options);
    return dialect.includes('2019-09') ? new Ajv2019(options) : new Ajv2020(options);
}

for await (const line of createInterface({ input: process.stdin })) {
    const { schema, values } = JSON.parse(line);
    let answer;
    try {
        const validate = reader(schema).compile(schema);
        answer = { accepted: values.map((value) => validate(value) === true) };
    } catch (error) {
        answer = { error: String(error.message) };
    }
    process.stdout.write(JSON.stringify(answer) + '\n');
}
