/** A tool in a form that every provider accepts, whoever has described it: an author, a client, or a server elsewhere. */
import type { ProviderTool } from '../../core/message/provider.ts';
import { type AcceptedSchema, toAcceptedSchema } from '../../core/value/accepted-schema.ts';
import { canonicalJson } from '../../core/value/canonical-json.ts';
import { cutMiddle } from '../../core/value/cut-middle.ts';
import { type JsonSchema, undescribed } from '../../core/value/json-schema.ts';

/** Characters of an original schema that a description repeats. */
const MAX_ORIGINAL_CHARS = 2000;

/** Undefined if its arguments are no object. */
export function toAcceptedTool(tool: ProviderTool): ProviderTool | undefined {
  const { description, parameters } = tool.function;
  const accepted = acceptedOf(parameters);
  if (!accepted) return undefined;
  const { schema, saysLess } = accepted;
  const original = saysLess ? cutMiddle(canonicalJson(undescribed(parameters)), MAX_ORIGINAL_CHARS) : '';
  const told = saysLess ? `\n\nIts arguments are checked against this JSON schema: ${original}` : '';
  return {
    ...tool,
    function: { ...tool.function, description: `${description}${told}`, parameters: schema },
  };
}

/** Computed once per schema, since requests are made for every step. */
const acceptedSchemas = new WeakMap<JsonSchema, AcceptedSchema | undefined>();

function acceptedOf(parameters: JsonSchema): AcceptedSchema | undefined {
  if (!acceptedSchemas.has(parameters)) acceptedSchemas.set(parameters, toAcceptedSchema(parameters));
  return acceptedSchemas.get(parameters);
}
