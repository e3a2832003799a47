// Messages of Ajv and zod about the arguments of calls. A line in is {"validator": …, "schema": …,
// "arguments": …}; a line out is {"message": …}, null as the message of valid arguments, or {"error": …} if the
// validator cannot read the schema. The first argument is the folder that holds node_modules.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import path from 'node:path';

const require = createRequire(path.join(path.resolve(process.argv[2]), 'package.json'));
const { Ajv } = require('ajv');
const { Ajv2020 } = require('ajv/dist/2020');
const addFormats = require('ajv-formats').default;
const { z } = require('zod');

// The options of the TypeScript SDK.
function compileAjv(schema) {
    const isDraft07 = String(schema.$schema ?? '').includes('draft-07');
    const ajv = new (isDraft07 ? Ajv : Ajv2020)({
        strict: false,
        validateFormats: true,
        validateSchema: false,
        allErrors: true,
        logger: false
    });
    addFormats(ajv);
    const validate = ajv.compile(schema);
    return (value) => (validate(value) ? null : [ajv, validate.errors]);
}

function compileZod(schema) {
    return z.fromJSONSchema(schema);
}

// Consecutive lines are about one call.
let last = {};
function once(compile, schema) {
    const key = compile.name + JSON.stringify(schema);
    if (last.key !== key) last = { key, compiled: compile(schema) };
    return last.compiled;
}

const validators = {
    ajv(schema, value) {
        const found = once(compileAjv, schema)(value);
        return found && found[0].errorsText(found[1]);
    },
    'ajv-json'(schema, value) {
        const found = once(compileAjv, schema)(value);
        return found && JSON.stringify(found[1]);
    },
    zod(schema, value) {
        const result = once(compileZod, schema).safeParse(value);
        return result.success ? null : result.error.message;
    }
};

for await (const line of createInterface({ input: process.stdin })) {
    const { validator, schema, arguments: value } = JSON.parse(line);
    let answer;
    try {
        answer = { message: validators[validator](schema, value) };
    } catch (error) {
        answer = { error: String(error.message) };
    }
    process.stdout.write(JSON.stringify(answer) + '\n');
}
