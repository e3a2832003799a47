// Reads schemas and values as a client of the TypeScript SDK v1 does: Ajv, draft-07; or, if the argument is
// 2020-12, as a reader of that dialect that also checks schemas against the metaschema. A line in is
// {"schema": …, "values": […]}; a line out is {"error": …} or {"accepted": […]}.
import { createInterface } from 'node:readline';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

const addFormats = formats.default;
const is2020 = process.argv[2] === '2020-12';
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
