// Reads schemas by the dialect that they name, as Ajv does. A line in is {"schema": …, "values": […]}; a line out is
// {"error": …} or {"accepted": […]}. The first argument is the folder that holds node_modules.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import path from 'node:path';

const require = createRequire(path.join(path.resolve(process.argv[2]), 'package.json'));
const { Ajv } = require('ajv');
const { Ajv2019 } = require('ajv/dist/2019.js');
const { Ajv2020 } = require('ajv/dist/2020.js');
const AjvDraft04 = require('ajv-draft-04').default;

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
