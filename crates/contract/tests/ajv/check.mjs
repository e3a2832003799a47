// Reads schemas and values as a client of the TypeScript SDK v1 does: Ajv, draft-07; or, if the second argument is
// 2020-12, as a reader of that dialect that also checks schemas against the metaschema. A line in is
// {"schema": …, "values": […]}; a line out is {"error": …} or {"accepted": […]}. The first argument is
// the folder that holds node_modules.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import path from 'node:path';

const require = createRequire(path.join(path.resolve(process.argv[2]), 'package.json'));
const { Ajv } = require('ajv');
const { Ajv2020 } = require('ajv/dist/2020.js');
const addFormats = require('ajv-formats').default;

const is2020 = process.argv[3] === '2020-12';
const metaschema = new Ajv2020({ strict: false, validateFormats: false, logger: false });

function reader() {
    if (is2020) {
        return new Ajv2020({ strict: false, validateFormats: false, validateSchema: false, meta: false, logger: false });
    }
    const ajv = new Ajv({
        strict: false,
        validateFormats: true,
        validateSchema: false,
        allErrors: true,
        logger: false
    });
    addFormats(ajv);
    return ajv;
}

function validator(ajv, schema) {
    return typeof schema.$id === 'string' ? (ajv.getSchema(schema.$id) ?? ajv.compile(schema)) : ajv.compile(schema);
}

// A server's tools share a reader. Two groups of the suite may use one `$id` for two schemas, which no
// server does, so that each group gets a reader. It reads a schema with names twice, as after a second listing.
for await (const line of createInterface({ input: process.stdin })) {
    const { schema, values } = JSON.parse(line);
    const ajv = reader();
    let answer;
    try {
        if (is2020) metaschema.validateSchema(schema, true);
        if (line.includes('"$id"')) validator(ajv, structuredClone(schema));
        const validate = validator(ajv, schema);
        answer = { accepted: values.map((value) => validate(value) === true) };
    } catch (error) {
        answer = { error: String(error.message) };
    }
    process.stdout.write(JSON.stringify(answer) + '\n');
}
