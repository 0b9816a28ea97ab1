/**
 * How subagents are offered to a model (definitions §13.3): one that ends with its report is a tool of its agent's
 * name; resumable ones are reached through `subagent_create` and `subagent_message`. Pure.
 */

import type { AuthorSchema } from '../../core/author/author-schema.ts';
import type { AgentDefinition } from '../../core/author/definition.ts';
import type { Registry } from '../../core/author/registry.ts';
import type { ProviderTool } from '../../core/message/provider.ts';
import {
  childPrompt,
  isSubagentCall,
  SUBAGENT_CREATE,
  SUBAGENT_MESSAGE,
  type Subagent,
} from '../../core/project/subagent.ts';
import { type JsonSchema, toParameters } from '../../definitions/tool-schema.ts';

export interface SubagentOffer {
  /** Subagents that the prompt lists and that are enabled now. */
  readonly enabled: readonly Subagent[];
  /** True if a living child can be messaged. */
  readonly living: boolean;
}

export function offerSubagent(registry: Registry, subagent: Subagent): ProviderTool {
  const schema = childPrompt(registry, subagent)?.requiredSchema;
  return toTool(subagent.agent.name, describeAgent(subagent.agent), parametersOf(schema));
}

/** The lifecycle tools, if a subagent can be made or messaged and the project defines nothing of the same name. */
export function offerLifecycle(registry: Registry, { enabled, living }: SubagentOffer): ProviderTool[] {
  const resumable = enabled.filter((each) => each.resumable);
  return [
    ...(resumable.length > 0 ? [offerCreate(registry, resumable)] : []),
    ...(living ? [MESSAGE_TOOL] : []),
  ].filter((tool) => isSubagentCall(registry, tool.function.name));
}

/** The agent's description for models. */
export function describeAgent({ name, title, description, toolDescription }: AgentDefinition): string {
  return toolDescription ?? description ?? title ?? `The agent ${name}.`;
}

/** Names of the required fields. */
export function requiredFields(schema: AuthorSchema): readonly string[] {
  const { required = [] } = parametersOf(schema) as { required?: readonly string[] };
  return required;
}

/** Computed once per schema, since a request is made for every step. */
const parametersBySchema = new WeakMap<AuthorSchema, JsonSchema>();

export function parametersOf(schema: AuthorSchema | undefined): JsonSchema {
  if (!schema) return toParameters(undefined);
  const parameters = parametersBySchema.get(schema) ?? toParameters(schema);
  parametersBySchema.set(schema, parameters);
  return parameters;
}

export function toTool(name: string, description: string, parameters: JsonSchema): ProviderTool {
  return { type: 'function', function: { name, description, parameters } };
}

const ATTACHMENTS_SCHEMA = {
  type: 'array',
  items: { type: 'string' },
  description: 'Paths below /attachments/ of files to send with the message; [] for none',
};

function offerCreate(registry: Registry, resumable: readonly Subagent[]): ProviderTool {
  const lines = resumable.map((each) => `- ${describe(registry, each)}`);
  const description = [
    'Creates a subagent: an agent in a separate thread, which works on your message. Its reference is in the result.',
    'Available agents:',
    ...lines,
  ].join('\n');
  const given = argumentsSchema(registry, resumable);
  return toTool(SUBAGENT_CREATE, description, {
    type: 'object',
    properties: {
      agent: { type: 'string', enum: resumable.map(({ agent }) => agent.name) },
      message: { type: 'string', description: 'Its first message' },
      attachments: ATTACHMENTS_SCHEMA,
      name: { type: 'string', description: 'A short name that identifies it to people' },
      ...(given ? { arguments: given } : {}),
    },
    required: ['agent', 'message', 'attachments', 'name'],
    additionalProperties: false,
  });
}

function describe(registry: Registry, subagent: Subagent): string {
  const { agent, blocking, maxInstances } = subagent;
  const { properties = {}, required = [] } = parametersOf(
    childPrompt(registry, subagent)?.requiredSchema,
  ) as {
    properties?: object;
    required?: readonly string[];
  };
  const takes = Object.keys(properties).map((name) =>
    required.includes(name) ? name : `${name} (optional)`,
  );
  const facts = [
    blocking ? 'you wait for its result' : 'it runs in parallel, and its result arrives as a message',
    ...(maxInstances === undefined ? [] : [`at most ${maxInstances} at a time`]),
    takes.length > 0 ? `arguments: ${takes.join(', ')}` : 'no arguments',
  ];
  return `${agent.name}: ${describeAgent(agent)} (${facts.join('; ')})`;
}

/** Undefined if none of them takes arguments. */
function argumentsSchema(registry: Registry, resumable: readonly Subagent[]): JsonSchema | undefined {
  const schemas = resumable.flatMap((subagent) => {
    const schema = childPrompt(registry, subagent)?.requiredSchema;
    return schema ? [{ title: subagent.agent.name, ...parametersOf(schema) }] : [];
  });
  if (schemas.length <= 1) return schemas[0];
  return { anyOf: schemas };
}

const MESSAGE_TOOL = toTool(
  SUBAGENT_MESSAGE,
  'Sends another message to a subagent that you created, such as an answer or another task.',
  {
    type: 'object',
    properties: {
      referenceId: { type: 'string', description: 'Its reference, from the result that contained it' },
      message: { type: 'string' },
      attachments: ATTACHMENTS_SCHEMA,
    },
    required: ['referenceId', 'message', 'attachments'],
    additionalProperties: false,
  },
);
