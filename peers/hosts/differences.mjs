// How the tools that a model is offered differ from those that a server lists, in words.

/** Keywords whose members are names that the author chose. */
const NAMED = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isEqual = (one, other) => JSON.stringify(one) === JSON.stringify(other);

function compare(listed, offered, note, keyword, isNames = false) {
  if (isObject(listed) && isObject(offered)) {
    for (const key of new Set([...Object.keys(listed), ...Object.keys(offered)])) {
      const name = isNames ? `a member of ${keyword}` : key;
      if (!Object.hasOwn(offered, key)) note("leaves out", name);
      else if (!Object.hasOwn(listed, key)) note("adds", name);
      else compare(listed[key], offered[key], note, name, !isNames && NAMED.has(key));
    }
  } else if (Array.isArray(listed) && Array.isArray(offered) && listed.length === offered.length) {
    listed.forEach((one, index) => compare(one, offered[index], note, keyword));
  } else if (!isEqual(listed, offered)) {
    note("changes", keyword);
  }
}

/** `offered` tools say with `of` which one of `listed` they are. Returns words such as "leaves out `title`". */
export function differences(listed, offered) {
  const found = {};
  const note = (verb, keyword) => (found[verb] ??= new Set()).add(keyword.startsWith("a member") ? keyword : `\`${keyword}\``);
  for (const tool of offered) {
    const one = listed.find(({ name }) => name === tool.of);
    if (!one) continue;
    compare(one.inputSchema, tool.schema, note, "inputSchema");
    if ((one.description ?? "") !== (tool.description ?? "")) note("changes", "description of a tool");
  }
  return Object.keys(found).sort().map((verb) => `${verb} ${[...found[verb]].sort().join(", ")}`);
}
